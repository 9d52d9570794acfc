// The report on recordings, as JSON.
import { growthLines, type ProxyGrowth } from './growth.js';
import type { Latency } from './latency.js';
import type { Recording, Result } from './observations.js';
import { type Bounds, RULES, type RuleName } from './rules.js';
import type { Violation } from './violation.js';

/** A recording and its verdict. */
export interface Judged {
  readonly recording: Recording;
  readonly violations: readonly Violation[];
}

/** The report on some recordings of one proxy. */
export interface Report {
  /** How the proxy was started, or what it is. */
  readonly proxy: string;
  readonly mode: string;
  readonly bounds: Bounds;
  readonly seeds: readonly number[];
  /** Number of events and of faults, and the recorded time, in ms. */
  readonly events: number;
  readonly faults: number;
  readonly time: number;
  /** Number of requests by their result. */
  readonly requests: Readonly<Partial<Record<Result, number>>>;
  readonly latencies: readonly Latency[];
  /** Memory and descriptors; undefined if nobody measured them. */
  readonly growth: ProxyGrowth | undefined;
  /** Faults during which the proxy ended although it should not have. */
  readonly died: number;
  /** Number of violations by rule; all rules that were broken. */
  readonly broken: Readonly<Partial<Record<RuleName, number>>>;
  readonly violations: readonly ReportedViolation[];
}

/** A violation, with its rule in words. */
export interface ReportedViolation extends Violation {
  readonly seed: number;
  readonly says: string;
  readonly source: string;
}

/** Most violations that a report has of one rule in one recording: one cause may break thousands of requests. */
const MOST_OF_ONE = 20;

/** The violations of a recording as a report has them. */
export function reportedOf({ recording, violations }: Judged): ReportedViolation[] {
  const told = new Map<RuleName, number>();
  return violations.flatMap((violation) => {
    const { rule } = violation;
    told.set(rule, (told.get(rule) ?? 0) + 1);
    if ((told.get(rule) ?? 0) > MOST_OF_ONE) return [];
    return [{ seed: recording.history.seed, ...violation, ...RULES[rule] }];
  });
}

/** The report as lines for people. */
export function reportLines(report: Report): string[] {
  const { proxy, mode, seeds, events, faults, time, requests, latencies, broken, violations } = report;
  const results = Object.entries(requests).map(([result, count]) => `${count} ${result}`);
  const total = Object.values(broken).reduce((sum, count) => sum + count, 0);
  return [
    `${proxy}, mode ${mode}: ${seeds.length} histories, ${events} events, ${faults} faults, ${Math.round(time / 1000)} s`,
    `requests: ${results.join(', ') || 'none'}`,
    ...latencies.map(({ kind, count, p50, p90, p99, most }) => {
      return `${kind}: p50 ${p50} ms, p90 ${p90} ms, p99 ${p99} ms, at most ${most} ms (${count})`;
    }),
    ...(report.growth ? growthLines(report.growth) : []),
    ...(report.died > 0 ? [`the proxy ended in ${report.died} faults in which it should not have`] : []),
    `violations: ${total}`,
    ...Object.entries(broken).map(([rule, count]) => `  ${rule}: ${count}; ${RULES[rule as RuleName].says}`),
    ...violations.slice(0, 10).map(({ seed, message }) => `  seed ${seed}: ${message}`),
  ];
}
