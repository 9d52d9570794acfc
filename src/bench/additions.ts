// Jobs that add a workload to an empty kernel, one method after another.
import { type Context, inSandbox, type Job, programmeOf, takeStep } from './context.js';
import { adderOf } from './opponents.js';
import { countOperations, type Programme, sampleOf } from './phases.js';
import { type FamilyScenario, familyProgramme } from './programmes.js';
import { modeOf } from './scenarios.js';
import type { OpponentName, Step } from './types.js';

/** Methods of which only a sample of the operations is run. */
const SAMPLED: ReadonlySet<OpponentName> = new Set(['spawn', 'execFile']);

/** The addition of one family's operations. */
export function familyJob(step: Step & { readonly scenario: FamilyScenario }): Job {
  return {
    steps: [step],
    run: (context) => addProgramme(context, step, () => familyProgramme(step.scenario, step.size)),
  };
}

/** The addition of everything that the proxy programmed, by another method. */
export function fullJob(step: Step): Job {
  return {
    steps: [step],
    run: (context) =>
      addProgramme(context, step, () => programmeOf(context, modeOf(step.scenario), step.size)),
  };
}

async function addProgramme(context: Context, step: Step, find: () => Programme): Promise<void> {
  if (context.results.isUnavailable(step)) return;
  await inSandbox(async (sandbox) => {
    await takeStep(context, step, async (window) => {
      const { options } = context;
      const programme = find();
      await sandbox.makeRoom(programme);
      const run = await adderOf(step.opponent, options.sample)(programme.phases, sandbox);
      const cost = await window(run);
      const operations = countOperations(programme.phases);
      const sample = countOperations(sampleOf(programme.phases, options.sample));
      // Rules are not sampled.
      const sampled = SAMPLED.has(step.opponent) && sample > 0 && sample < operations;
      return [{ cost, operations, ...(sampled && { sample }) }];
    });
  });
}
