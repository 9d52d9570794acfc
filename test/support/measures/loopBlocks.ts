// The times for which the event loop of this thread was blocked.
import { performance } from 'node:perf_hooks';
import { threadTimes } from './threadTimes.js';

/** Period of the timer that is late by the time of a block, in ms. */
const PERIOD = 1;

/**
 * Measures blocks of the event loop, without the time for which the thread was ready and another process had its CPU.
 * Waiting for other threads of this process counts, such as those of the garbage collector, and they have no CPU on a busy
 * machine: `blocksOf` is for tests beside others.
 */
export class LoopBlocks {
  readonly #timer: NodeJS.Timeout;
  #longest = 0;
  #last = this.#now();

  constructor() {
    this.#timer = setInterval(() => this.#measure(), PERIOD);
  }

  /** The longest block since the start or the last call, including the callback that calls, in ms. */
  take(): number {
    this.#measure();
    const longest = this.#longest;
    this.#longest = 0;
    return longest;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #measure(): void {
    const now = this.#now();
    const late = now.time - this.#last.time - (now.waited - this.#last.waited) - PERIOD;
    this.#longest = Math.max(this.#longest, late);
    this.#last = now;
  }

  /** The time, and for how long this thread has waited in the run queue of its CPU, in ms. */
  #now(): { time: number; waited: number } {
    return { time: performance.now(), waited: threadTimes().waited };
  }
}
