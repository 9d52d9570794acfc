// Rules for requests without an answer.
import { targetKey } from './frontends.js';
import type { Observation } from './observations.js';
import type { Bounds } from './rules.js';
import type { Window } from './timeline.js';
import { type Violation, violationOf } from './violation.js';

/** Judges requests without an answer, in the order of their ends. */
export class SilenceJudge {
  readonly #bounds: Bounds;
  /** Targets whose last new connection had no refusal. */
  readonly #silent = new Set<string>();
  /** The last pod that answered each UDP stream; none after a loss that was excused. */
  readonly #streams = new Map<number, string>();
  /** Targets whose last single datagram was excused. */
  readonly #excused = new Set<string>();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Remembers who answered. */
  answered({ use, connection, by, target }: Observation): void {
    if (use === 'stream' && by !== undefined) this.#streams.set(connection, by);
    if (use === 'once') this.#excused.delete(targetKey(target));
  }

  /** The violation if an answer, or a refusal at once, was promised in every state that may be in force. */
  judge(observation: Observation, { promises, last }: Window): Violation | undefined {
    const { result, use, began, ended } = observation;
    if (promises.every(({ answers }) => answers)) {
      if (use === 'stream' && this.#losesFlow(observation, promises)) return undefined;
      if (use === 'once' && this.#losesDatagram(observation, promises)) return undefined;
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
   * Whether the datagram may be lost with its flow: a proxy deletes the flow to an endpoint that no longer serves, and an answer that
   * is under way then comes from an address that the client does not know. In ipvs mode the kernel drops it if the endpoint is no longer
   * chosen, and the node as a client gets an error (EPERM). The next datagram must be answered.
   */
  #losesFlow({ connection, result }: Observation, promises: Window['promises']): boolean {
    const by = this.#streams.get(connection);
    this.#streams.delete(connection);
    const { ipvs } = this.#bounds;
    const isLost = result === 'timeout' || (ipvs && result === 'unreachable');
    if (!isLost || by === undefined) return false;
    const kept = promises.filter(({ may, serving }) => (ipvs ? may : serving).has(by)).length;
    return kept > 0 && kept < promises.length;
  }

  /** Whether a single datagram may be lost: an endpoint that it may have reached no longer serves, and its flow may have been deleted before the answer. */
  #losesDatagram({ target, result }: Observation, promises: Window['promises']): boolean {
    const key = targetKey(target);
    if (target.protocol !== 'UDP' || result !== 'timeout' || this.#excused.has(key)) return false;
    const { ipvs } = this.#bounds;
    const kept = (by: string) => promises.every(({ may, serving }) => (ipvs ? may : serving).has(by));
    if (promises.every(({ may }) => [...may].every(kept))) return false;
    this.#excused.add(key);
    return true;
  }

  /**
   * Two connections after one another must be without a refusal: a refusal is a message of ICMP, and the kernel limits their
   * number (icmp_msgs_per_sec).
   */
  #judgeRefusal(observation: Observation, promises: Window['promises']): Violation | undefined {
    const { result, target, began, ended } = observation;
    const key = targetKey(target);
    const isSilent =
      result === 'timeout' &&
      ended - began > this.#bounds.refusal &&
      promises.every(({ refuses }) => refuses);
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
