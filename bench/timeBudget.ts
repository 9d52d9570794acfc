// Which runs of a job there is time for. Pure.
import type { Job } from './context.js';
import { seriesOf } from './results.js';
import type { BenchOptions } from './types.js';

/** The time of the runs of each job. Jobs with the same steps in several repetitions are runs of one. */
export class TimeBudget {
  readonly #options: Pick<BenchOptions, 'budget' | 'repetitions'>;
  /** By the series of the steps, in ms. */
  readonly #runs = new Map<string, { readonly all: number; readonly last: number }>();

  constructor(options: Pick<BenchOptions, 'budget' | 'repetitions'>) {
    this.#options = options;
  }

  /** Whether a job is run. Its first run always is; so is that in which system calls are counted. */
  allows(job: Pick<Job, 'steps'>): boolean {
    const { budget, repetitions } = this.#options;
    const repetition = job.steps[0]?.repetition ?? 0;
    if (repetition <= 1 || repetition > repetitions) return true;
    const { all, last } = this.#runs.get(keyOf(job)) ?? { all: 0, last: 0 };
    return all + last <= budget * 1000;
  }

  /** Records the time of a run, in ms, with its preparation. A warm-up counts too. */
  spend(job: Pick<Job, 'steps'>, time: number): void {
    const { all } = this.#runs.get(keyOf(job)) ?? { all: 0 };
    this.#runs.set(keyOf(job), { all: all + time, last: time });
  }
}

function keyOf({ steps }: Pick<Job, 'steps'>): string {
  return steps.map(seriesOf).join();
}
