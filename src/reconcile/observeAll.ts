// Reads all our items from the kernel.
import type { KeyedOperation, Known, Mode } from '../modes/mode.js';

/**
 * All pieces that a mode observes, as one map.
 *
 * @param found called once, with the first item that is ours: an earlier proxy left it
 */
export async function observeAll<Item, Operation extends KeyedOperation>(
  mode: Mode<Item, Operation>,
  found?: () => void,
): Promise<Known<Item>> {
  const known: Known<Item> = new Map();
  let report = found;
  for await (const piece of mode.observe()) {
    for (const [key, item] of piece) {
      known.set(key, item);
      if (!report || !mode.isOurs(item)) continue;
      report();
      report = undefined;
    }
  }
  return known;
}
