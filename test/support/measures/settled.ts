// Counts that go on to change for a moment after the last operation.
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { PATIENCE } from '../../laboratory/patience.js';

/** Equal counts in succession, 5 ms apart, after which a count has settled. */
const SAME_COUNTS = 20;

/**
 * The count, once it stays the same: a descriptor that a thread shares is freed in a later turn of the event loop, and an ended
 * thread is listed for a moment. On a busy machine, the moment may be longer than the equal counts.
 *
 * @param expected to wait for, at most as long as a test waits
 */
export async function settled(count: () => number, expected?: number): Promise<number> {
  const deadline = performance.now() + PATIENCE;
  const isUnexpected = () => expected !== undefined && last !== expected && performance.now() < deadline;
  let last = count();
  for (let same = 0; same < SAME_COUNTS || isUnexpected(); ) {
    await delay(5);
    const now = count();
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return last;
}
