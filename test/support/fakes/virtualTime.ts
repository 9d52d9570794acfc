// A clock and timers that a test moves. They replace those of the process until they are restored.

/** A timer that is set. */
export interface VirtualTimer {
  readonly run: () => void;
  /** Its time, in ms. */
  readonly due: number;
  /** Its delay, in ms. */
  readonly delay: number;
}

/** Replaces `setTimeout`, `setInterval`, their ends and `performance.now`. */
export class VirtualTime {
  /** Monotonic time, in ms. */
  now = 0;
  readonly #timers = new Set<VirtualTimer>();
  readonly #real = { setTimeout, clearTimeout, setInterval, clearInterval };

  constructor() {
    const set = (run: () => void, delay = 0) => {
      const timer = { run, delay, due: this.now + delay, unref: () => timer, ref: () => timer };
      this.#timers.add(timer);
      return timer;
    };
    const clear = (timer: VirtualTimer) => void this.#timers.delete(timer);
    Object.assign(globalThis, {
      setTimeout: set,
      clearTimeout: clear,
      setInterval: () => ({}),
      clearInterval: clear,
    });
    performance.now = () => this.now;
  }

  /** The timers that are set, in order of their times. */
  get timers(): VirtualTimer[] {
    return [...this.#timers].sort((a, b) => a.due - b.due);
  }

  /** Moves the clock to the time of a timer, and runs it. */
  fire(timer: VirtualTimer): void {
    this.#timers.delete(timer);
    this.now = Math.max(this.now, timer.due);
    timer.run();
  }

  /** The clock and the timers of the process are its own again. */
  restore(): void {
    Object.assign(globalThis, this.#real);
    Reflect.deleteProperty(performance, 'now');
  }
}
