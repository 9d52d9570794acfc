// Long work on JavaScript's thread, cut into slices, so that other callbacks of the event loop run in between.
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Length of a slice, in ms. */
const LENGTH = 2;
/** The clock is read once for so many steps: reading it is a system call on some machines. */
const STEPS = 64;

/** The time slice of one loop. */
export class TimeSlice {
  #since = performance.now();
  #steps = 0;

  /**
   * Counts steps of the loop; true when the slice is used up and the loop has to await {@link yield}.
   *
   * @param steps 1 for a step of some microseconds; by default the step is long, and the clock is read after it
   */
  spend(steps = STEPS): boolean {
    this.#steps += steps;
    if (this.#steps < STEPS) return false;
    this.#steps = 0;
    return performance.now() - this.#since > LENGTH;
  }

  /** Runs every other callback that waits, once, and begins the next slice. */
  async yield(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}
