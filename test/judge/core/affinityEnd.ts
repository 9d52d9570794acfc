// The rule that session affinity ends. A proxy that never forgets a client although chance would choose another endpoint is a violation.
import { affinityKey } from './frontends.js';
import type { Observation } from './observations.js';
import type { Bounds } from './rules.js';
import type { Timeline, Window } from './timeline.js';
import { type Violation, violationOf } from './violation.js';

/** Time after the timeout that a kernel's timers may take, in ms. */
const LATE = 100;

/** Judges the first connection of a client after its timeout: the choice is independent of the one before. */
export class AffinityEndJudge {
  readonly #timeline: Timeline;
  readonly #bounds: Bounds;
  /** The last new connection, by client and Service port. */
  readonly #last = new Map<string, Observation>();
  /** Number of choices, and the chance that a correct proxy repeats each of them. */
  #count = 0;
  #chance = 1;
  /** The last choice that was repeated. */
  #repeated: Observation | undefined;
  #moved = false;

  constructor(timeline: Timeline, bounds: Bounds) {
    this.#timeline = timeline;
    this.#bounds = bounds;
  }

  /** Counts a new connection, also one without an answer: it may begin the time anew. */
  count(observation: Observation, { last: promise }: Window): void {
    const { service } = promise;
    if (service === undefined || promise.affinity === 0 || this.#bounds.ipvs) return;
    const key = affinityKey(service, observation.target);
    const before = this.#last.get(key);
    this.#last.set(key, observation);
    if (!before || observation.by === undefined) return;
    const choices = this.#choices(before, observation);
    if (choices < 2) return;
    this.#count++;
    this.#chance /= choices;
    if (observation.by === before.by) this.#repeated = observation;
    else this.#moved = true;
  }

  /** The violation, if no client has ever moved. */
  end(): Violation[] {
    if (this.#moved || !this.#repeated || this.#chance > this.#bounds.chance) return [];
    const text = `in ${this.#count} connections after the timeout, each client reached the endpoint of the one before`;
    return [violationOf('affinity-ends', this.#repeated, text)];
  }

  /** Number of pods from which the proxy chose anew; 0 if it may not have. */
  #choices(before: Observation, { target, began, ended }: Observation): number {
    const { promises, damaged } = this.#timeline.window(before.began, ended, target);
    const [first] = promises;
    const { by } = before;
    if (!first || by === undefined || damaged || this.#timeline.forgets(before.began, ended)) return 0;
    if (began - before.ended < 1000 * first.affinity + LATE) return 0;
    const same = promises.every(({ service, affinity, certain, may }) => {
      const equal = service === first.service && affinity === first.affinity && may.size === first.may.size;
      return equal && certain && may.has(by) && [...may].every((pod) => first.may.has(pod));
    });
    return same ? first.may.size : 0;
  }
}
