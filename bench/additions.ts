// Jobs that add a workload to an empty kernel, one method after another.
import { type Context, inSandbox, type Job, programmeOf, takeStep } from './context.js';
import { adderOf } from './methods.js';
import { countOperations, sampleOf, type Workload } from './phases.js';
import { lifeOf } from './scenarios.js';
import type { MethodName, Step } from './types.js';
import { type FamilyScenario, familyWorkload } from './workloads.js';

/** Methods of which only a sample of the operations is run. */
const SAMPLED: ReadonlySet<MethodName> = new Set(['spawn', 'execFile']);

/** The addition of one family's operations. */
export function familyJob(step: Step & { readonly scenario: FamilyScenario }): Job {
  return {
    steps: [step],
    run: (context) => addWorkload(context, step, () => familyWorkload(step.scenario, step.size)),
  };
}

/** The addition of everything that the proxy programmed, by another method. */
export function fullJob(step: Step): Job {
  return {
    steps: [step],
    run: (context) =>
      addWorkload(context, step, () => programmeOf(context, lifeOf(step.scenario), step.size)),
  };
}

async function addWorkload(context: Context, step: Step, find: () => Workload): Promise<void> {
  if (context.results.isUnavailable(step)) return;
  await inSandbox(async (sandbox) => {
    await takeStep(context, step, async (window) => {
      const { options } = context;
      const workload = find();
      await sandbox.makeRoom(workload);
      const run = await adderOf(step.method, options.sample)(workload.phases, sandbox);
      const cost = await window(run);
      const operations = countOperations(workload.phases);
      const sample = countOperations(sampleOf(workload.phases, options.sample));
      // Rules are not sampled.
      const sampled = SAMPLED.has(step.method) && sample > 0 && sample < operations;
      return [{ cost, operations, ...(sampled && { sample }) }];
    });
  });
}
