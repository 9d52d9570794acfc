// The problems that are not solved: each is reported once, and once more when it is solved.
import { describeProblem, type Problem } from '../../kernel/errors.js';
import type { SourceEvents } from './source.js';

/** The problems of a source, by the object or file that has them. */
export class OpenProblems {
  readonly #events: Pick<SourceEvents, 'problems' | 'mended'>;
  readonly #open = new Map<string, readonly Problem[]>();

  constructor(events: Pick<SourceEvents, 'problems' | 'mended'>) {
    this.#events = events;
  }

  /** Replaces the problems of an object or file by those that it has now. Reports the difference. */
  set(about: string, problems: readonly Problem[]): void {
    // Nearly always there is none, and the key of each object of a cluster is a new text.
    if (problems.length === 0 && this.#open.size === 0) return;
    const before = this.#open.get(about) ?? NONE;
    if (problems.length === 0 && before.length === 0) return;
    if (problems.length === 0) this.#open.delete(about);
    else this.#open.set(about, problems);
    const mended = without(before, problems);
    if (mended.length > 0) this.#events.mended?.(mended);
    const found = without(problems, before);
    if (found.length > 0) this.#events.problems(found);
  }

  /** Solves the problems of all other objects or files. */
  retain(about: ReadonlySet<string>): void {
    for (const key of [...this.#open.keys()]) if (!about.has(key)) this.set(key, []);
  }
}

const NONE: readonly Problem[] = [];

function without(problems: readonly Problem[], others: readonly Problem[]): Problem[] {
  if (problems.length === 0 || others.length === 0) return [...problems];
  const lines = new Set(others.map(describeProblem));
  return problems.filter((problem) => !lines.has(describeProblem(problem)));
}
