// The rule that each endpoint is chosen sometimes. A pod that is never chosen although chance would choose it is a violation.
import type { Observation } from './observations.js';
import type { Bounds } from './rules.js';
import type { Window } from './timeline.js';
import { type Violation, violationOf } from './violation.js';

/** What new connections are counted together. */
export type FairnessKey = (observation: Observation, service: string) => string;

/** Counts of the answers in all times in which the same pods could be chosen. */
interface Count {
  readonly pods: ReadonlySet<string>;
  readonly names: string;
  readonly answers: Set<string>;
  total: number;
  last: Observation;
}

/** Judges the distribution of new connections. Times with damage, or in which it is not certain who can be chosen, interrupt a count and do not end it. */
export class FairnessJudge {
  readonly #counts = new Map<string, Count>();
  readonly #key: FairnessKey;
  readonly #chance: number;

  constructor({ chance }: Bounds, key: FairnessKey) {
    this.#key = key;
    this.#chance = chance;
  }

  /** Counts a new connection. */
  count(observation: Observation, { promises, damaged }: Window): void {
    const { by, result } = observation;
    if (result !== 'answered' || by === undefined || damaged) return;
    const [first] = promises;
    if (first?.service === undefined) return;
    const names = namesOf(first.may);
    const same = promises.every(({ service, may, affinity, certain }) => {
      return service === first.service && certain && affinity === 0 && namesOf(may) === names;
    });
    if (!same || first.may.size < 2) return;
    const key = `${this.#key(observation, first.service)}: ${names}`;
    const known = this.#counts.get(key);
    const count = known ?? { pods: first.may, names, answers: new Set(), total: 0, last: observation };
    if (!known) this.#counts.set(key, count);
    count.total++;
    count.answers.add(by);
    count.last = observation;
  }

  /** The violations of all counts. */
  end(): Violation[] {
    return [...this.#counts.values()].flatMap((count) => this.#missing(count) ?? []);
  }

  #missing({ pods, names, answers, total, last }: Count): Violation | undefined {
    const { size } = pods;
    const chance = size * (1 - 1 / size) ** total;
    const missing = [...pods].filter((pod) => !answers.has(pod));
    if (missing.length === 0 || chance > this.#chance) return undefined;
    const text = `${missing.join(', ')} of ${names} never answered in ${total} connections`;
    return violationOf('every-endpoint', last, text);
  }
}

const NAMES = new WeakMap<ReadonlySet<string>, string>();

function namesOf(pods: ReadonlySet<string>): string {
  let names = NAMES.get(pods);
  if (names === undefined) {
    names = [...pods].sort().join(' ');
    NAMES.set(pods, names);
  }
  return names;
}
