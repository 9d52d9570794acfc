// The memory of the command as an agent, which reads its objects from an API server in this process.
import type { ProxyCommand } from './against/types.js';
import { withProxy } from './against/withProxy.js';
import { makeRawCluster, type RawChange } from './cluster.js';
import { type Context, type Job, takeStep } from './context.js';
import { LIVES, lifeOf } from './scenarios.js';
import type { Step } from './types.js';

/** Longest time of a first pass, in ms. */
const LIMIT = 1_800_000;
/** Time without a pass after which the memory is read, and the longest wait for it, in ms. */
const QUIET = 2000;
const QUIET_LIMIT = 30_000;

/** The memory at one size, above that without any Service. */
export function agentJob(step: Step): Job {
  return {
    steps: [step],
    run: (context: Context) =>
      takeStep(context, step, async () => {
        const { agent, options, results } = context;
        if (!agent) throw new Error('no command of an agent was given');
        const { size } = step;
        const { mode, layout } = LIVES[lifeOf(step.scenario)];
        // The last flag counts.
        const flags = [`--proxy-mode=${mode}`, ...(layout ? [`--nftables-layout=${layout}`] : [])];
        const command = { ...agent, command: [agent.command, ...flags].join(' ') };
        const objects = makeRawCluster(size, options.seed).objects();
        const idleResident = await residentMemory(command, objects.filter(isNode));
        const resident = await residentMemory(command, objects);
        const place = { ...(mode !== 'ipvs' && { mode }), ...(layout && { layout }) };
        results.memory.push({ size, idleResident, resident, ...place });
        return [];
      }),
  };
}

function isNode({ object }: RawChange): boolean {
  return object.kind === 'Node';
}

/** Resident memory of the agent after its first pass with these objects, in bytes. */
function residentMemory(agent: ProxyCommand, changes: readonly RawChange[]): Promise<number> {
  const objects = changes.map(({ object }) => object);
  return withProxy(agent, objects, async (start) => {
    const proxy = start();
    await proxy.firstPass(LIMIT);
    await proxy.quiet(QUIET, QUIET_LIMIT);
    return proxy.memory.resident;
  });
}
