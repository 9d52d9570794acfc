// The memory of the command as an agent, which reads its objects from an API server in this process.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubeconfigFor } from './against/kubeconfig.js';
import { ProxyProcess } from './against/proxyProcess.js';
import type { ProxyCommand } from './against/types.js';
import { ApiServer } from './apiServer/server.js';
import { makeRawCluster, NODE_NAME, type RawChange } from './cluster.js';
import { type Context, inSandbox, type Job, takeStep } from './context.js';
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
        const objects = makeRawCluster(size, options.seed).objects();
        const idleResident = await residentMemory(agent, objects.filter(isNode));
        results.memory.push({ size, idleResident, resident: await residentMemory(agent, objects) });
        return [];
      }),
  };
}

function isNode({ object }: RawChange): boolean {
  return object.kind === 'Node';
}

/** Resident memory of the agent after its first pass with these objects, in bytes. */
async function residentMemory(agent: ProxyCommand, objects: readonly RawChange[]): Promise<number> {
  return inSandbox(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kube-netlink-proxy-bench-'));
    const server = await new ApiServer().start();
    try {
      const kubeconfig = join(folder, 'kubeconfig');
      writeFileSync(kubeconfig, kubeconfigFor(server.url));
      for (const { object } of objects) server.store.set(object);
      const proxy = new ProxyProcess(agent, { kubeconfig, node: NODE_NAME });
      try {
        if ((await proxy.passAfter(0, LIMIT)) === undefined) {
          throw new Error(`no pass within ${LIMIT} ms${proxy.lastLines}`);
        }
        await proxy.quiet(QUIET, QUIET_LIMIT);
        return proxy.memory.resident;
      } finally {
        await proxy.end();
      }
    } finally {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
