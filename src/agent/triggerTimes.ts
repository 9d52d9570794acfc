// When the changes of endpoints were made that no pass has programmed yet: the slices' own word for it, for the metric on
// network programming latency.
import type { Family } from '../net/address.js';
import type { ObjectChange } from '../objects/types.js';

/** A change of endpoints, and when it was made. */
export interface Trigger {
  readonly family: Family;
  /** Ms since 1970. */
  readonly triggeredAt: number;
}

/** Trigger times that were told and whose changes are not programmed yet. */
export class TriggerTimes {
  readonly #startedAt: number;
  /** Slice → the time last told of it: the annotation stays on the slice when something else of it changes. */
  readonly #told = new Map<string, number>();
  readonly #waiting = new Map<string, Trigger>();
  /** Of changes that passes have taken in. */
  #taken: Trigger[] = [];

  /** @param startedAt ms since 1970; what was triggered before is not ours to account for */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  /** Takes a change in. */
  note({ type, object }: ObjectChange): void {
    if (object.kind !== 'EndpointSlice') return;
    const id = `${object.namespace}/${object.name}`;
    const { triggerTime, family } = object;
    if (type === 'delete') {
      this.#told.delete(id);
      this.#waiting.delete(id);
      return;
    }
    if (triggerTime === undefined || triggerTime <= this.#startedAt || this.#told.get(id) === triggerTime)
      return;
    this.#told.set(id, triggerTime);
    this.#waiting.set(id, { family, triggeredAt: triggerTime });
  }

  /** A pass takes in the changes that wait. */
  taken(): void {
    this.#taken.push(...this.#waiting.values());
    this.#waiting.clear();
  }

  /** Those that were taken in and are in the kernel now; each is given once. */
  programmed(): Trigger[] {
    const triggers = this.#taken;
    this.#taken = [];
    return triggers;
  }
}
