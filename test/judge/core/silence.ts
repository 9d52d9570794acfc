// Rules for requests without an answer.
import { targetKey } from './frontends.js';
import type { Observation } from './observations.js';
import type { Bounds } from './rules.js';
import type { Window } from './timeline.js';
import { type Violation, violationOf } from './violation.js';

/** Judges requests without an answer, in the order of their ends. */
export class SilenceJudge {
  readonly #refusal: number;
  /** Targets whose last new connection had no refusal. */
  readonly #silent = new Set<string>();

  constructor({ refusal }: Bounds) {
    this.#refusal = refusal;
  }

  /** The violation if an answer, or a refusal at once, was promised in every state that may be in force. */
  judge(observation: Observation, { promises, last }: Window): Violation | undefined {
    const { result, use, began, ended } = observation;
    if (promises.every(({ answers }) => answers)) {
      const rule = use === 'stream' ? 'stream-answers' : 'ready-answers';
      const who = [...last.may].join(', ');
      return violationOf(
        rule,
        observation,
        `${result} after ${Math.round(ended - began)} ms; ${who} should answer`,
      );
    }
    return use === 'once' ? this.#judgeRefusal(observation, promises) : undefined;
  }

  /**
   * Two connections after one another must be without a refusal: a refusal is a message of ICMP, and the kernel limits their
   * number (icmp_msgs_per_sec).
   */
  #judgeRefusal(observation: Observation, promises: Window['promises']): Violation | undefined {
    const { result, target, began, ended } = observation;
    const key = targetKey(target);
    const isSilent =
      result === 'timeout' && ended - began > this.#refusal && promises.every(({ refuses }) => refuses);
    const again = isSilent && this.#silent.has(key);
    if (isSilent) this.#silent.add(key);
    else this.#silent.delete(key);
    if (!again) return undefined;
    return violationOf(
      'refused',
      observation,
      'no refusal, twice after one another, although the Service has no endpoint',
    );
  }
}
