// Divides a long loop into time slices, so that other callbacks of the event loop run in between.
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Length of a slice, in ms. */
const LENGTH = 2;
/** Number of steps between two reads of the clock: on some machines, a read is a system call. */
const STEPS = 64;

/** The time slice of one loop. */
export class TimeSlice {
  #since = performance.now();
  #steps = 0;

  /**
   * Counts steps of the loop. Returns true if the slice has ended and the loop must await {@link yield}.
   *
   * @param steps 1 for a step of a few microseconds; by default, the step is long and the clock is read after it
   */
  spend(steps = STEPS): boolean {
    this.#steps += steps;
    if (this.#steps < STEPS) return false;
    this.#steps = 0;
    return performance.now() - this.#since > LENGTH;
  }

  /** Runs the waiting callbacks once, and starts the next slice. */
  async yield(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}
