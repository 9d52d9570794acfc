// Recognizes the item that the kernel refused.
import { type NetlinkError, ROLLED_BACK } from '../../../../kernel/errors.js';
import type { RefusedPart } from '../../mode.js';
import { isAsWanted } from '../plan/compare.js';
import { type Item, keyOf } from '../plan/items.js';

/** The item of each error that the kernel gave an operation. */
const REFUSED = new WeakMap<NetlinkError, Item>();

/** Records the item of an error. The first one counts: others of its Service may get the same error. */
export function recordRefused(error: NetlinkError, item: Item): void {
  if (error.code !== ROLLED_BACK && !REFUSED.has(error)) REFUSED.set(error, item);
}

/** The item that was refused with the error. Undefined if the kernel refused none. */
export function refusedBy(error: NetlinkError): RefusedPart<Item> | undefined {
  const refused = REFUSED.get(error);
  if (refused === undefined) return undefined;
  const key = keyOf(refused);
  return { isIn: (item) => keyOf(item) === key && isAsWanted(refused, item) };
}
