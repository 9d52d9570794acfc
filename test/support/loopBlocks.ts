// The times for which the event loop of this thread was blocked.
import { closeSync, openSync, readSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

/** Period of the timer that is late by the time of a block, in ms. */
const PERIOD = 1;

/**
 * Measures blocks of the event loop, without the time for which the thread was ready and another process had its CPU: a
 * busy machine prolongs no block. Waiting for other threads of this process counts, such as those of the garbage collector.
 */
export class LoopBlocks {
  readonly #buffer = Buffer.alloc(100);
  /** CPU time, time in the run queue and number of time slices: Linux, Documentation/scheduler/sched-stats.rst. */
  readonly #schedstat = openSync('/proc/thread-self/schedstat', 'r');
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
    closeSync(this.#schedstat);
  }

  #measure(): void {
    const now = this.#now();
    const late = now.time - this.#last.time - (now.waited - this.#last.waited) - PERIOD;
    this.#longest = Math.max(this.#longest, late);
    this.#last = now;
  }

  /** The time, and for how long this thread has waited in the run queue of its CPU, in ms. */
  #now(): { time: number; waited: number } {
    const length = readSync(this.#schedstat, this.#buffer, 0, this.#buffer.length, 0);
    const waited = Number(this.#buffer.toString('latin1', 0, length).split(' ')[1]) / 1e6;
    return { time: performance.now(), waited };
  }
}
