// Divides a long loop into time slices, so that other callbacks of the event loop run in between.
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Steps } from './steps.js';

/** Length of a slice, in ms. */
const LENGTH = 2;
/** Number of steps between two reads of the clock: on some machines, a read is a system call. */
const FEWEST_STEPS = 64;
/** The same for steps that take far less than a microsecond. */
const MOST_STEPS = 512;
/** The time between two reads of the clock that is short enough to double the number of steps, in ms. */
const SHORT = LENGTH / 16;

/** The time slice of one loop. */
export class TimeSlice {
  #since = performance.now();
  #read = this.#since;
  #steps = 0;
  #interval = FEWEST_STEPS;

  /**
   * Counts steps of the loop. Returns true if the slice has ended and the loop must await {@link yield}.
   *
   * @param steps 1 for a step of a few microseconds; by default, the step is long and the clock is read after it
   */
  spend(steps = MOST_STEPS): boolean {
    this.#steps += steps;
    if (this.#steps < this.#interval) return false;
    this.#steps = 0;
    const now = performance.now();
    this.#interval = now - this.#read < SHORT ? Math.min(2 * this.#interval, MOST_STEPS) : FEWEST_STEPS;
    this.#read = now;
    return now - this.#since > LENGTH;
  }

  /** Makes all steps of a computation. Other callbacks run between them whenever a slice has ended. */
  async finish<Result>(steps: Steps<Result>): Promise<Result> {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      if (this.spend()) await this.yield();
    }
  }

  /** Runs the waiting callbacks once, and starts the next slice. */
  async yield(): Promise<void> {
    // If the callback of a socket sets an immediate, Node.js runs it in the same turn, before any timer. The second one runs in the next turn.
    await nextTurn();
    await nextTurn();
    this.#since = performance.now();
    this.#read = this.#since;
  }
}
