// Collects the results of runs, and makes figures of them.
import type { Cost } from './cost.js';
import { median, medianRun, spread } from './statistics.js';
import type { Figure, MemoryFigure, Step, Unavailable } from './types.js';

/** The result of one run of one step. */
export interface Result {
  readonly cost: Cost;
  /** Operations of the whole scenario. */
  readonly operations: number;
  /** Operations that were measured, if fewer. */
  readonly sample?: number;
  readonly parentMemory: number;
  readonly peakMemory: number;
  readonly input?: number;
  readonly longestBlock?: number;
  readonly heap?: number;
  readonly firstService?: number | undefined;
}

/** A figure under way. */
interface Series {
  readonly step: Step;
  first?: Result;
  readonly results: Result[];
  systemCalls?: number;
}

/** Names a scenario with a size and a method. */
export function seriesOf({ scenario, method, size }: Omit<Step, 'repetition'>): string {
  return `${scenario} ${method} ${size.services} x ${size.endpoints}`;
}

/** All results of a benchmark. */
export class Results {
  readonly memory: MemoryFigure[] = [];
  readonly #series = new Map<string, Series>();
  readonly #unavailable = new Map<string, Unavailable>();

  /** Adds results of a step; the first of the warm-up counts as the first run, the others of the warm-up do not count. */
  add(step: Step, results: readonly Result[]): void {
    const series = this.#of(step);
    if (step.repetition > 0) series.results.push(...results);
    else if (results[0]) series.first ??= results[0];
  }

  /** Adds the number of system calls of a step. */
  addSystemCalls(step: Step, calls: number): void {
    this.#of(step).systemCalls = calls;
  }

  /** Records that a method, or every method, cannot do a scenario. The first reason stays: later ones may follow from it. */
  unavailable(reason: Unavailable): void {
    const id = `${reason.scenario} ${reason.method ?? ''}`;
    if (!this.#unavailable.has(id)) this.#unavailable.set(id, reason);
  }

  /** Whether a step is known to be impossible. */
  isUnavailable({ scenario, method }: Pick<Step, 'scenario' | 'method'>): boolean {
    return this.#unavailable.has(`${scenario} ${method}`) || this.#unavailable.has(`${scenario} `);
  }

  get reasons(): Unavailable[] {
    return [...this.#unavailable.values()];
  }

  figures(): Figure[] {
    return [...this.#series.values()].flatMap((series) =>
      series.results.length > 0 ? [figureOf(series)] : [],
    );
  }

  #of(step: Step): Series {
    const key = seriesOf(step);
    let series = this.#series.get(key);
    if (!series) {
      series = { step, results: [] };
      this.#series.set(key, series);
    }
    return series;
  }
}

function figureOf({ step, first, results, systemCalls }: Series): Figure {
  const { scenario, method, size } = step;
  const each = <T>(read: (result: Result) => T | undefined) =>
    results.flatMap((result) => {
      const value = read(result);
      return value === undefined ? [] : [value];
    });
  const middle = results[medianRun(each(({ cost }) => cost.wall))] as Result;
  const blocks = each(({ longestBlock }) => longestBlock);
  const inputs = each(({ input }) => input);
  const heaps = each(({ heap }) => heap);
  const services = each(({ firstService }) => firstService);
  const { user, system, children, processes, messages } = middle.cost;
  return {
    scenario,
    method,
    size,
    operations: middle.operations,
    ...(middle.sample !== undefined && { sample: middle.sample }),
    wall: spread(each(({ cost }) => cost.wall)),
    cpu: spread(each(({ cost }) => cost.user + cost.system + cost.children)),
    cpuTime: { user, system, children },
    ...(first && { first: first.cost.wall }),
    parentMemory: median(each(({ parentMemory }) => parentMemory)),
    peakMemory: median(each(({ peakMemory }) => peakMemory)),
    processes,
    ...(inputs.length > 0 && { input: median(inputs) }),
    ...(messages !== undefined && { messages }),
    ...(systemCalls !== undefined && { systemCalls }),
    ...(blocks.length > 0 && { longestBlock: median(blocks) }),
    ...(heaps.length > 0 && { heap: median(heaps) }),
    ...(services.length > 0 && { firstService: spread(services) }),
  };
}
