// The time in which a proxy can run: without the times in which it waits for a processor that others use.
import type { Wait } from './observations.js';

/**
 * Converts between the time of a recording and the time in which the proxy could run, both in ms. Bounds are times of the second kind: a
 * machine with too much work makes no proxy wrong.
 */
export class RunTime {
  /** The ends of the intervals, and the run time there. Both grow. */
  readonly #ends: number[] = [];
  readonly #runs: number[] = [];

  /** @param waits in the order of time, without overlaps */
  constructor(waits: readonly Wait[]) {
    let waited = 0;
    for (const { from, until, waited: more } of waits) {
      this.#ends.push(from, until);
      this.#runs.push(from - waited, until - waited - more);
      waited += more;
    }
  }

  /** The earliest time from which the proxy could run for no longer than this before another time. */
  before(time: number, bound: number): number {
    return valueAt(this.#runs, this.#ends, valueAt(this.#ends, this.#runs, time) - bound);
  }

  /** The time at which the proxy could run for this long since another time. */
  after(time: number, bound: number): number {
    return valueAt(this.#runs, this.#ends, valueAt(this.#ends, this.#runs, time) + bound);
  }
}

/** The value of a function through points, which grows by 1 for each 1 outside of them. */
function valueAt(xs: readonly number[], ys: readonly number[], x: number): number {
  const above = xs.findIndex((one) => one >= x);
  const [x1, y1] = [xs[above], ys[above]];
  const below = above === -1 ? xs.length - 1 : above - 1;
  const [x0, y0] = [xs[below], ys[below]];
  if (x1 === undefined || y1 === undefined) return x0 === undefined || y0 === undefined ? x : y0 + x - x0;
  if (x0 === undefined || y0 === undefined || x1 === x0) return y1 + x - x1;
  return y0 + ((x - x0) * (y1 - y0)) / (x1 - x0);
}
