// The rule that each endpoint is chosen sometimes. A pod that is never chosen although chance would choose it is a violation.
import type { Observation } from './observations.js';
import type { Bounds } from './rules.js';
import type { Window } from './timeline.js';
import { type Violation, violationOf } from './violation.js';

/** What new connections are counted together. */
export type FairnessKey = (observation: Observation, service: string) => string;

/** Counts of the answers while the same pods could be chosen. */
interface Count {
  readonly pods: ReadonlySet<string>;
  readonly names: string;
  readonly answers: Map<string, number>;
  total: number;
}

/** Judges the distribution of new connections. */
export class FairnessJudge {
  readonly #counts = new Map<string, Count>();
  readonly #last = new Map<string, Observation>();
  readonly #key: FairnessKey;
  readonly #chance: number;

  constructor({ chance }: Bounds, key: FairnessKey) {
    this.#key = key;
    this.#chance = chance;
  }

  /** Counts a new connection; the counts begin anew when other pods can be chosen. Returns the violation that ends there. */
  judge(observation: Observation, { promises, damaged }: Window): Violation | undefined {
    const { by, result } = observation;
    if (result !== 'answered' || by === undefined) return undefined;
    const [first] = promises;
    if (first?.service === undefined) return undefined;
    const key = this.#key(observation, first.service);
    const same = promises.every(({ service, may, affinity, certain }) => {
      return service === first.service && certain && affinity === 0 && namesOf(may) === namesOf(first.may);
    });
    const names = same && !damaged ? namesOf(first.may) : '';
    let count = this.#counts.get(key);
    let violation: Violation | undefined;
    if (count?.names !== names) {
      violation = this.#missing(key);
      count = { pods: first.may, names, answers: new Map(), total: 0 };
      this.#counts.set(key, count);
    }
    count.total++;
    count.answers.set(by, (count.answers.get(by) ?? 0) + 1);
    this.#last.set(key, observation);
    return violation;
  }

  /** The violations of the counts that were open at the end. */
  end(): Violation[] {
    return [...this.#counts.keys()].flatMap((key) => this.#missing(key) ?? []);
  }

  #missing(key: string): Violation | undefined {
    const count = this.#counts.get(key);
    const last = this.#last.get(key);
    if (!count || !last || count.names === '' || count.pods.size < 2) return undefined;
    const { size } = count.pods;
    const chance = size * (1 - 1 / size) ** count.total;
    const missing = [...count.pods].filter((pod) => !count.answers.has(pod));
    if (missing.length === 0 || chance > this.#chance) return undefined;
    const text = `${missing.join(', ')} of ${count.names} never answered in ${count.total} connections`;
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
