// The times of endpoint changes that are not programmed yet, from the annotation
// endpoints.kubernetes.io/last-change-trigger-time, for the metric of the network programming latency.
import type { Family } from '../../kernel/net/address.js';
import type { ObjectChange } from '../../proxy/objects/types.js';

/** The trigger time of a change of endpoints. */
interface Trigger {
  readonly family: Family;
  /** In ms since 1970. */
  readonly triggeredAt: number;
}

/** Trigger times whose changes are not programmed yet. */
export class TriggerTimes {
  readonly #startedAt: number;
  /** Slice → its last trigger time: the annotation remains when another field of the slice changes. */
  readonly #last = new Map<string, number>();
  readonly #waiting = new Map<string, Trigger>();
  /** Triggers of changes that a pass has read. */
  #taken: Trigger[] = [];

  /** @param startedAt start time, in ms since 1970; earlier triggers are ignored */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  /** Records the trigger of a change. */
  note({ type, object }: ObjectChange): void {
    if (object.kind !== 'EndpointSlice') return;
    const id = `${object.namespace}/${object.name}`;
    const { triggerTime, family } = object;
    if (type === 'delete') {
      this.#last.delete(id);
      this.#waiting.delete(id);
      return;
    }
    if (triggerTime === undefined || triggerTime <= this.#startedAt || this.#last.get(id) === triggerTime)
      return;
    this.#last.set(id, triggerTime);
    this.#waiting.set(id, { family, triggeredAt: triggerTime });
  }

  /** A pass has read the waiting changes. */
  taken(): void {
    for (const trigger of this.#waiting.values()) this.#taken.push(trigger);
    this.#waiting.clear();
  }

  /** Returns the triggers whose changes are in the kernel now, each once. */
  programmed(): Trigger[] {
    const triggers = this.#taken;
    this.#taken = [];
    return triggers;
  }
}
