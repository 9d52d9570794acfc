// Long work on JavaScript's thread, cut into short pieces: what else waits for the thread gets its turn in between.
import { performance } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';

/** Ms of work after which the thread is given away. */
const PIECE = 2;

/** One course of work. */
export class Breath {
  #since = performance.now();

  /** True when a piece of work is done and it is time to await {@link take}. */
  get due(): boolean {
    return performance.now() - this.#since > PIECE;
  }

  /** Lets everything else that waits run once. */
  async take(): Promise<void> {
    await turn();
    this.#since = performance.now();
  }
}
