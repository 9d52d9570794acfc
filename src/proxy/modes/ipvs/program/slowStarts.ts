// The virtual services with real servers that are starting slowly, and the times of their next steps.
import { noChange } from '../../../../kernel/ipvs/values/serverLists.js';
import type { Pass } from '../../mode.js';
import type { Item } from '../plan/items.js';
import { type Operation, serverOperation } from '../plan/operations.js';
import { nextStep, SLOW_START_STEPS, withChanges } from '../plan/slowStart.js';

/** All slow starts. Keys are those of virtual services. */
export class SlowStarts {
  /** Key → time of its next step, in ms; undefined before the first pass that sees it. */
  readonly #due = new Map<string, number | undefined>();

  /** Records virtual services that were read: one with a weight that kube-proxy never sets may be in a slow start. */
  observe(found: ReadonlyMap<string, Item>): void {
    for (const [key, item] of found) {
      if (item.kind !== 'virtualService' || item.foreign || this.#due.has(key)) continue;
      for (const { weight } of item.others?.values() ?? []) {
        if (weight < SLOW_START_STEPS) continue;
        this.#due.set(key, undefined);
        break;
      }
    }
  }

  /** Records an acknowledged operation. */
  learn({ key, becomes }: Operation): void {
    if (becomes?.kind !== 'virtualService' || becomes.slowStart === undefined) return;
    if (!this.#due.has(key)) this.#due.set(key, undefined);
  }

  /** Number of virtual services that are looked at. */
  get size(): number {
    return this.#due.size;
  }

  /** Time until the next step, in ms; undefined if nothing is starting. */
  dueIn(now: number): number | undefined {
    let first: number | undefined;
    for (const due of this.#due.values()) {
      const left = Math.max(0, (due ?? now) - now);
      if (first === undefined || left < first) first = left;
    }
    return first;
  }

  /**
   * The steps that are due, without those of virtual services that have another operation in this pass: they are due at once. An
   * operation for each virtual service has a change for each real server that is starting.
   *
   * @param busy keys that have another operation
   */
  due({ desired, known, now }: Pass<Item>, busy: ReadonlySet<string>): Operation[] {
    const operations: Operation[] = [];
    for (const [key, due] of this.#due) {
      if ((due !== undefined && due > now) || busy.has(key)) continue;
      const want = desired.get(key);
      const have = known.get(key);
      const isSlow = want?.kind === 'virtualService' && have?.kind === 'virtualService';
      const changes = isSlow && want.slowStart !== undefined ? nextStep(want, have) : [];
      if (!isSlow || want.slowStart === undefined || changes.length === 0) {
        this.#due.delete(key);
        continue;
      }
      // The last step is at the end of the time: a new real server has had its first one already.
      this.#due.set(key, now + want.slowStart / (SLOW_START_STEPS - 1));
      if (due === undefined) continue;
      const change = { ...noChange(have.service), others: changes };
      operations.push(serverOperation('addServers', key, change, withChanges(have, changes)));
    }
    return operations;
  }
}
