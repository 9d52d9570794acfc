// Runs computations in steps, one after another and in time slices.
import type { Steps } from '../kernel/steps.js';
import { TimeSlice } from '../kernel/timeSlice.js';

/** A queue of computations. An ordinary one, of a single step, is run at once if none is under way. */
export class StepQueue {
  readonly #waiting: Steps<void>[] = [];
  readonly #failed: (error: unknown) => void;
  /** The computations under way that took longer than a time slice. */
  #running: Promise<void> | undefined;
  #closed = false;

  /** @param failed receives the error of a computation; the next one follows */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** Runs a computation after those before it: at once, until a time slice has ended. */
  add(steps: Steps<void>): void {
    if (this.#closed) return;
    // One under way, also if it is the caller, is the first one until it has ended.
    if (this.#waiting.push(steps) > 1) return;
    const slice = new TimeSlice();
    if (!this.#run(slice)) this.#running = this.#runOn(slice);
  }

  /** Resolves when no computation is under way. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  /** Leaves all computations as they are after the current step. */
  close(): void {
    this.#closed = true;
    this.#waiting.length = 0;
  }

  async #runOn(slice: TimeSlice): Promise<void> {
    do await slice.yield();
    while (!this.#run(slice));
    this.#running = undefined;
  }

  /** Makes steps until the time slice ends. Returns whether none are left. */
  #run(slice: TimeSlice): boolean {
    for (let steps = this.#waiting[0]; steps; steps = this.#waiting[0]) {
      if (this.#isDone(steps)) this.#waiting.shift();
      else if (slice.spend()) return false;
    }
    return true;
  }

  /** Makes one step. An error ends the computation. */
  #isDone(steps: Steps<void>): boolean {
    try {
      return steps.next().done === true;
    } catch (error) {
      this.#failed(error);
      return true;
    }
  }
}
