// The problems that stand: each is reported once, and once more when it is mended.
import { describeProblem, type Problem } from '../errors.js';
import type { SourceEvents } from './source.js';

/** The problems of a source, by the object or file that has them. */
export class StandingProblems {
  readonly #events: Pick<SourceEvents, 'problems' | 'mended'>;
  readonly #standing = new Map<string, readonly Problem[]>();

  constructor(events: Pick<SourceEvents, 'problems' | 'mended'>) {
    this.#events = events;
  }

  /** Takes in all problems that something has now: none when it is whole, or gone. Reports the difference. */
  set(about: string, problems: readonly Problem[]): void {
    const before = this.#standing.get(about) ?? [];
    if (problems.length === 0) this.#standing.delete(about);
    else this.#standing.set(about, problems);
    const mended = without(before, problems);
    if (mended.length > 0) this.#events.mended?.(mended);
    const found = without(problems, before);
    if (found.length > 0) this.#events.problems(found);
  }

  /** Drops the problems of everything but this. */
  retain(about: ReadonlySet<string>): void {
    for (const key of [...this.#standing.keys()]) if (!about.has(key)) this.set(key, []);
  }
}

function without(problems: readonly Problem[], others: readonly Problem[]): Problem[] {
  if (problems.length === 0 || others.length === 0) return [...problems];
  const lines = new Set(others.map(describeProblem));
  return problems.filter((problem) => !lines.has(describeProblem(problem)));
}
