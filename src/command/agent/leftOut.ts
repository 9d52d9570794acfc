// The objects that are left out, completely or partly: for metrics, /statusz and events.
import { describeProblem, type Problem } from '../../kernel/errors.js';
import type { Metrics } from '../servers/metrics.js';
import type { Announcer } from './announce.js';

/** Number of problems that /statusz shows. */
const SHOWN = 5;

/** The receivers of the reports. */
interface LeftOutListeners {
  readonly metrics: Pick<Metrics, 'own'>;
  readonly announcer: Pick<Announcer, 'leftOut'>;
}

/** The problems that are not solved. */
export class LeftOut {
  readonly #listeners: LeftOutListeners;
  /** By description, in the order of their detection. */
  readonly #problems = new Map<string, Problem>();
  /** Kind and reason → object → number of its problems with that reason. */
  readonly #objects = new Map<string, Map<string, number>>();

  constructor(listeners: LeftOutListeners) {
    this.#listeners = listeners;
  }

  /** Adds new problems, and sends one event for each object. */
  found(problems: readonly Problem[]): void {
    const byObject = new Map<string, Problem[]>();
    for (const problem of problems) {
      const line = describeProblem(problem);
      if (this.#problems.has(line)) continue;
      this.#problems.set(line, problem);
      this.#count(problem, 1);
      const ofObject = byObject.get(problem.object);
      if (ofObject) ofObject.push(problem);
      else byObject.set(problem.object, [problem]);
    }
    for (const ofObject of byObject.values()) this.#listeners.announcer.leftOut(ofObject);
  }

  /** Removes solved problems. */
  mended(problems: readonly Problem[]): void {
    for (const problem of problems)
      if (this.#problems.delete(describeProblem(problem))) this.#count(problem, -1);
  }

  /** Number of objects that are left out, and the first problems; undefined if there are none. */
  summary(): string | undefined {
    if (this.#problems.size === 0) return undefined;
    const objects = new Set([...this.#problems.values()].map(({ object }) => object)).size;
    const lines = this.lines();
    const more = lines.length > SHOWN ? [`and ${lines.length - SHOWN} more problems`] : [];
    return `${objects} (${[...lines.slice(0, SHOWN), ...more].join('; ')})`;
  }

  /** A line for each problem, in the order of their detection. */
  lines(): string[] {
    return [...this.#problems.keys()];
  }

  #count({ kind = 'document', reason = 'FieldLeftOut', object }: Problem, difference: number): void {
    const key = `${kind} ${reason}`;
    const objects = this.#objects.get(key) ?? new Map<string, number>();
    this.#objects.set(key, objects);
    const count = (objects.get(object) ?? 0) + difference;
    if (count > 0) objects.set(object, count);
    else objects.delete(object);
    this.#listeners.metrics.own.leftOut.set({ kind, reason }, objects.size);
  }
}
