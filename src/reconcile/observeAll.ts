// Reads all our items from the kernel.
import type { KeyedOperation, Known, Mode } from '../modes/mode.js';

/** All pieces that a mode observes, as one map. */
export async function observeAll<Item, Operation extends KeyedOperation<Item>>(
  mode: Mode<Item, Operation>,
): Promise<Known<Item>> {
  const known: Known<Item> = new Map();
  for await (const piece of mode.observe()) for (const [key, item] of piece) known.set(key, item);
  return known;
}
