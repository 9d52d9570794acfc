// Long work on JavaScript's thread in short pieces: other callbacks of the event loop run in between.
import { setImmediate } from 'node:timers/promises';

/** Work that may pause at each `yield`: after each record that was read. Its result is returned at the end. */
export type Steps<Result> = Generator<void, Result>;

/** Steps between two turns of the event loop: a few ms. */
export const STEPS_PER_TURN = 1000;

/** Does all steps, and lets the event loop turn after every {@link STEPS_PER_TURN}. */
export async function inSlices<Result>(steps: Steps<Result>): Promise<Result> {
  for (let done = 1; ; done++) {
    const step = steps.next();
    if (step.done) return step.value;
    if (done % STEPS_PER_TURN === 0) await setImmediate();
  }
}
