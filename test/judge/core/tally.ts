// What a run keeps of its recordings: counts, times, and the few that its page shows. The requests of the others are dropped.
import { growthOf, type ProxySample } from './growth.js';
import { type LatencyKind, latenciesOf, percentilesOf } from './latency.js';
import type { Recording, Result } from './observations.js';
import { type Judged, type Report, type ReportedViolation, reportedOf } from './report.js';
import type { Bounds, RuleName } from './rules.js';

/** Most recordings that are kept. */
const MOST_KEPT = 12;

/** Counts of the recordings of one proxy. Its memory grows with events and faults, and not with requests. */
export class Tally {
  readonly #bounds: Bounds;
  readonly #seeds: number[] = [];
  readonly #latencies = new Map<LatencyKind, number[]>();
  readonly #requests: Partial<Record<Result, number>> = {};
  readonly #broken: Partial<Record<RuleName, number>> = {};
  readonly #violations: ReportedViolation[] = [];
  readonly #samples: ProxySample[] = [];
  readonly #sums = { events: 0, faults: 0, died: 0, time: 0 };
  #kept: readonly Judged[] = [];

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** The recordings that are kept: those with the most violations, then the first ones. */
  get kept(): readonly Judged[] {
    return this.#kept;
  }

  add(judged: Judged): void {
    const { recording, violations } = judged;
    this.#seeds.push(recording.history.seed);
    this.#count(recording);
    for (const { rule } of violations) this.#broken[rule] = (this.#broken[rule] ?? 0) + 1;
    this.#violations.push(...reportedOf(judged));
    const sorted = [...this.#kept, judged].toSorted((a, b) => b.violations.length - a.violations.length);
    this.#kept = sorted.slice(0, MOST_KEPT);
  }

  /**
   * The report on all recordings so far.
   *
   * @param proxy how the proxy was started, or what it is
   */
  report(proxy: string, mode: string): Report {
    const { events, faults, died, time } = this.#sums;
    return {
      ...{ proxy, mode, bounds: this.#bounds, seeds: [...this.#seeds] },
      ...{ events, faults, time: Math.round(time), requests: { ...this.#requests } },
      latencies: percentilesOf(this.#latencies),
      growth: growthOf(this.#samples),
      ...{ died, broken: { ...this.#broken }, violations: [...this.#violations] },
    };
  }

  #count(recording: Recording): void {
    const { after, changes, ended, faults, observations } = recording;
    this.#sums.events += changes.length;
    this.#sums.faults += faults.length;
    this.#sums.died += faults.filter(({ died }) => died).length;
    this.#sums.time += ended;
    if (after) this.#samples.push(after);
    for (const { result } of observations) this.#requests[result] = (this.#requests[result] ?? 0) + 1;
    for (const [kind, times] of latenciesOf(recording, this.#bounds)) {
      const all = this.#latencies.get(kind);
      if (all) all.push(...times);
      else this.#latencies.set(kind, [...times]);
    }
  }
}
