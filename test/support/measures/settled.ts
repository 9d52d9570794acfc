// Counts that go on to change for a moment after the last operation.
import { setTimeout as delay } from 'node:timers/promises';

/** Equal counts in succession, 5 ms apart, after which a count has settled. */
const SAME_COUNTS = 20;

/**
 * The count, once it stays the same: a descriptor that a thread shares is freed in a later turn of the event loop, and an ended
 * thread is listed for a moment.
 */
export async function settled(count: () => number): Promise<number> {
  let last = count();
  for (let same = 0; same < SAME_COUNTS; ) {
    await delay(5);
    const now = count();
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return last;
}
