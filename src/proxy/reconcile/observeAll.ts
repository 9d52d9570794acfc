// Reads all our items from the kernel.
import type { KeyedOperation, Known, Mode } from '../modes/mode.js';

/** All pieces that a mode observes, as one map. @param whole see {@link Mode.observe} */
export async function observeAll<Item, Operation extends KeyedOperation<Item>>(
  mode: Mode<Item, Operation>,
  whole = false,
): Promise<Known<Item>> {
  const known: Known<Item> = new Map();
  for await (const piece of mode.observe(whole)) for (const [key, item] of piece) known.set(key, item);
  return known;
}
