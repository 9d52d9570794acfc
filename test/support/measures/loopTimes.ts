// The longest time between two callbacks of the event loop of this thread, by one of two clocks.
import { performance } from 'node:perf_hooks';
import { threadTimes } from './threadTimes.js';

/** Period of the timer that measures, in ms. A turn that is shorter counts together with the next one. */
const PERIOD = 1;

/** Measures the time by a clock from one callback of a timer to the next. */
export class LoopTimes {
  readonly #clock: () => number;
  readonly #pause: number;
  readonly #timer: NodeJS.Timeout;
  #longest = 0;
  #last: number;

  /** The clock counts ms, and a loop without work has this time between two callbacks. */
  constructor(clock: () => number, pause: number) {
    this.#clock = clock;
    this.#pause = pause;
    this.#last = clock();
    this.#timer = setInterval(() => this.#measure(), PERIOD);
  }

  /** The longest time since the start or the last call, including the callback that calls, in ms. */
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
    const now = this.#clock();
    this.#longest = Math.max(this.#longest, now - this.#last - this.#pause);
    this.#last = now;
  }
}

/** Turns as CPU time, which other processes do not prolong, with the collections of garbage on this thread. */
export function loopTurns(): LoopTimes {
  return new LoopTimes(() => threadTimes().ran, 0);
}

/**
 * Blocks, without the time for which the thread was ready and another process had its CPU.
 * Waiting for other threads of this process counts, such as those of the garbage collector, and they have no CPU on a busy
 * machine: `blocksOf` is for tests beside others.
 */
export function loopBlocks(): LoopTimes {
  return new LoopTimes(() => performance.now() - threadTimes().waited, PERIOD);
}
