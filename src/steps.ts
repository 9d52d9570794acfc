// Long computations in steps, so that the caller can let other callbacks of the event loop run between two steps. Pure: only the
// caller decides when it continues.

import { checkArgument, methods } from './shapes.js';

const STEPS = methods('next');

/** A computation in steps. Each `next()` makes a step of at most a millisecond or so; the last one has the result. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Makes all steps of a computation. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  if (typeof steps?.next !== 'function') checkArgument('atOnce', 'steps', steps, STEPS);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** A computation of one step. */
// biome-ignore lint/correctness/useYield: a function that returned an iterator would run before its step is made.
export function* oneStep<Result>(run: () => Result): Steps<Result> {
  return run();
}

/** Number of parts in a step. */
const PARTS = 64;

/** Counts the parts of a computation, of a few microseconds each, which make up its steps. */
export class StepCounter {
  #parts = 0;

  /** Counts a part. Returns true if the step has enough of them, and the computation must yield. */
  isFull(): boolean {
    this.#parts++;
    return this.#parts % PARTS === 0;
  }
}
