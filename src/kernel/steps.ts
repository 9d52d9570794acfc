// Long computations in steps, so that the caller can let other callbacks of the event loop run between two steps. Pure: only the
// caller decides when it continues.

/** A computation in steps. Each `next()` makes a step of at most a millisecond or so; the last one has the result. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Makes all steps of a computation. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
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

/** Number of elements that are put in order in one step. */
const RUN = 1024;

/** A list in order, in steps: a single call of sort() takes as long as the list is. Equal elements keep their order. */
export function* sortedInSteps<Value>(
  list: readonly Value[],
  compare: (a: Value, b: Value) => number,
): Steps<Value[]> {
  let sorted: Value[] = [];
  for (let start = 0; start < list.length; start += RUN) {
    for (const value of list.slice(start, start + RUN).sort(compare)) sorted.push(value);
    yield;
  }
  for (let length = RUN; length < list.length; length *= 2) {
    const merged: Value[] = [];
    for (let start = 0; start < list.length; start += 2 * length) {
      const middle = Math.min(start + length, list.length);
      const end = Math.min(middle + length, list.length);
      let [left, right] = [start, middle];
      while (left < middle || right < end) {
        const isLeft =
          right === end || (left < middle && compare(sorted[left] as Value, sorted[right] as Value) <= 0);
        merged.push(sorted[isLeft ? left++ : right++] as Value);
        if (merged.length % RUN === 0) yield;
      }
    }
    sorted = merged;
  }
  return sorted;
}
