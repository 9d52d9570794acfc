// Limits of timers and waits.
import { setTimeout as delay } from 'node:timers/promises';

/** The longest time of Node.js's timers, about 25 days, in ms: for a longer one they fire at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** Waits for the end of work, but no longer than this time, in ms. Rejects if the work rejects in this time. */
export async function endsWithin(time: number, work: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  try {
    await Promise.race([work, delay(time, undefined, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
