// Tells operations that repair changes by other programs from those that program changes of plans. Pure.
import type { Known } from '../modes/mode.js';

/** Answers which plans the pass under way has made. */
interface Plans {
  readonly desired: { has(key: string): boolean };
  isPlannedNow(key: string): boolean;
}

/** The items that are known now. */
interface KnownNow {
  readonly known: Pick<Known<unknown>, 'has'>;
}

/** What was known of an item before a pass read it. */
export interface Before {
  /** The kernel had it. */
  readonly known: boolean;
  /** Its last operation had failed: what the kernel had was unknown. */
  readonly failed: boolean;
}

/** Whether an operation on the item of a key repairs a change by another program. */
export type IsRepair = (key: string) => boolean;

/** No operation does. */
export const NO_REPAIR: IsRepair = () => false;

/**
 * Compares what a pass has read with what was known before.
 *
 * @param before has nothing of items that the pass does not read
 */
export function repairsOf(
  before: { get(key: string): Before | undefined },
  now: KnownNow,
  planner: Plans,
): IsRepair {
  /** A key may have several operations, between which the known item changes. */
  const decided = new Map<string, boolean>();
  return (key) => {
    const earlier = decided.get(key);
    if (earlier !== undefined) return earlier;
    const isRepair = decide(key, before.get(key), now.known.has(key), planner);
    decided.set(key, isRepair);
    return isRepair;
  };
}

/** The same for a pass that is about to read all items. */
export function repairsAfterReading(
  kernel: KnownNow & { readonly unknown: { readonly items: ReadonlyMap<string, unknown> } },
  planner: Plans,
): IsRepair {
  const { known } = kernel;
  const failed = new Set(kernel.unknown.items.keys());
  const get = (key: string): Before => ({ known: known.has(key), failed: failed.has(key) });
  return repairsOf({ get }, kernel, planner);
}

function decide(key: string, before: Before | undefined, exists: boolean, planner: Plans): boolean {
  if (!before) return false;
  // What was to be deleted, and is wanted again, may have been deleted although the operation failed.
  if (before.known && !exists) return !(before.failed && planner.isPlannedNow(key));
  // The item may be as the failed operation left it.
  if (before.failed || !exists) return false;
  return planner.desired.has(key) ? !planner.isPlannedNow(key) : !before.known;
}
