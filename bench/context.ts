// What the steps of a benchmark share: options, results, events, and the end on request.
import { setTimeout as delay } from 'node:timers/promises';
import { memoryOf } from './against/procfs.js';
import type { ProxyCommand } from './against/types.js';
import { type Cost, resetPeak } from './cost.js';
import type { Workload } from './phases.js';
import type { Result, Results } from './results.js';
import { collectGarbage, Sandbox } from './sandbox.js';
import type { SystemCallCounter } from './systemCalls.js';
import type { BenchEvents, BenchOptions, LifeName, MethodName, ScenarioName, Size, Step } from './types.js';

/** Time for which threads of V8 work after a collection of garbage, in ms: with one CPU, the run would pay for them. */
const SWEEPING = 200;

/** The state of a benchmark. */
export interface Context {
  readonly options: BenchOptions;
  readonly events: BenchEvents;
  readonly results: Results;
  /** Throws its reason between two steps when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Absent if system calls are not counted. */
  readonly counter?: SystemCallCounter | undefined;
  /** The command as an agent, whose memory is measured. */
  readonly agent?: ProxyCommand | undefined;
  /** The workload of a whole node, by life and size, once the proxy has programmed it. */
  readonly workloads: Map<string, Workload>;
}

/** Several steps that need the same preparation. */
export interface Job {
  readonly steps: readonly Step[];
  run(context: Context): Promise<void>;
}

/** What a measured piece of work reports; the memory is added here. */
export type Measured = Omit<Result, 'parentMemory' | 'peakMemory'>;

/** Whether a step is the run in which system calls are counted. */
function isCounting({ options }: Context, { repetition }: Step): boolean {
  return repetition > options.repetitions;
}

/** The step of a scenario by a method, among those of a job. A life without the scenario has none. */
export function stepOf(
  job: Pick<Job, 'steps'>,
  scenario: ScenarioName | undefined,
  method: MethodName,
): Step | undefined {
  return job.steps.find((step) => step.scenario === scenario && step.method === method);
}

/** Runs what is measured of a step: the rest of its work is preparation. */
export type Window = <T>(run: () => Promise<T>) => Promise<T>;

/**
 * Does the work of a step, and records its results. An error makes the step unavailable, and is not thrown.
 *
 * @param work runs what is measured through the window, once or several times
 */
export async function takeStep(
  context: Context,
  step: Step | undefined,
  work: (window: Window) => Promise<readonly Measured[]>,
): Promise<void> {
  if (!step || context.results.isUnavailable(step)) return;
  context.signal?.throwIfAborted();
  context.events.started?.(step);
  try {
    if (isCounting(context, step)) await countCalls(context, step, work);
    else await measure(context, step, work);
  } catch (error) {
    const { scenario, method } = step;
    context.results.unavailable({ scenario, method, reason: (error as Error).message });
  } finally {
    context.events.ended?.(step);
  }
}

type Work = Parameters<typeof takeStep>[2];

async function measure({ results }: Context, step: Step, work: Work): Promise<void> {
  const memory = { parentMemory: 0, peakMemory: 0 };
  const measured = await work(async (run) => {
    collectGarbage();
    await delay(SWEEPING);
    memory.parentMemory = memoryOf(process.pid).resident;
    resetPeak();
    const result = await run();
    memory.peakMemory = Math.max(memory.peakMemory, memoryOf(process.pid).peak);
    return result;
  });
  results.add(
    step,
    measured.map((one) => ({ ...one, ...memory })),
  );
}

async function countCalls({ counter, results }: Context, step: Step, work: Work): Promise<void> {
  if (!counter) return;
  let calls = 0;
  const measured = await work(async (run) => {
    const counted = await counter.count(run);
    calls += counted.calls;
    return counted.result;
  });
  // Of one run, as all other numbers of a figure.
  results.addSystemCalls(step, Math.round(calls / measured.length));
}

/** Does work in a sandbox of its own. */
export async function inSandbox<T>(work: (sandbox: Sandbox) => Promise<T>): Promise<T> {
  const sandbox = await Sandbox.enter();
  try {
    return await work(sandbox);
  } finally {
    await sandbox.leave();
  }
}

/** The workload of a whole node. Throws if the proxy has not programmed the kernel. */
export function programmeOf({ workloads }: Context, life: LifeName, size: Size): Workload {
  const workload = workloads.get(programmeKey(life, size));
  if (!workload) throw new Error('the proxy has not programmed the kernel');
  return workload;
}

/** The key of a workload. */
export function programmeKey(life: LifeName, { services, endpoints }: Size): string {
  return `${life} ${services} x ${endpoints}`;
}

/** Does pieces of work, one after another. */
export async function eachOf<T>(runs: readonly (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  for (const run of runs) results.push(await run());
  return results;
}

/** Measured work without anything else to report. */
export function plain(cost: Cost, operations: number): Measured {
  return { cost, operations };
}
