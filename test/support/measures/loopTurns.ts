// The longest turn of the event loop of this thread, as CPU time, which other processes do not prolong.
import { threadTimes } from './threadTimes.js';

/** Period of the timer that measures, in ms. A turn that is shorter counts together with the next one. */
const PERIOD = 1;

/** Measures the time for which the thread runs from one callback of a timer to the next. */
export class LoopTurns {
  readonly #timer: NodeJS.Timeout;
  #longest = 0;
  #ran = threadTimes().ran;

  constructor() {
    this.#timer = setInterval(() => this.#measure(), PERIOD);
  }

  /** The longest turn since the start or the last call, in ms of CPU time, with the collections of garbage on this thread. */
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
    const { ran } = threadTimes();
    this.#longest = Math.max(this.#longest, ran - this.#ran);
    this.#ran = ran;
  }
}
