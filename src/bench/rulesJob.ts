// The rules of ipvs mode: each run saves and restores those of both families, as the agent does at its start.
import type { IpsetOperation, SetDefinition } from '../kernel/ipset/types.js';
import { program } from '../kernel/iptables/index.js';
import type { Family } from '../net/address.js';
import { makeCluster } from './cluster.js';
import { type Context, inSandbox, type Job, plain, takeStep } from './context.js';
import { Meter } from './cost.js';
import { execAll, type Run, spawnAll } from './opponents.js';
import type { Restore } from './phases.js';
import { emptyKernel, ProxyRun } from './proxyRun.js';
import { check, type Sandbox } from './sandbox.js';
import { batchCommands, type ToolCommand } from './toolCommands.js';
import type { Step } from './types.js';

/** The restores of a first pass, and the sets that their rules name. */
interface Rules {
  readonly restores: readonly Restore[];
  readonly sets: readonly SetDefinition[];
}

/** Save and restore by one opponent, in a namespace without rules. */
export function rulesJob(step: Step): Job {
  return {
    steps: [step],
    run: (context: Context) =>
      inSandbox((sandbox) =>
        takeStep(context, step, async (window) => {
          const { restores, sets } = await planRules(step, context.options.seed);
          await sandbox.makeRoom({ sets });
          const cost = await window(prepare(step, restores, sandbox));
          await checkRules(sandbox, restores);
          return [plain(cost, 2 * restores.length)];
        }),
      ),
  };
}

/** The rules do not depend on the kernel, nor on the number of Services. */
async function planRules({ size }: Step, seed: number): Promise<Rules> {
  const kernel = emptyKernel();
  const sets: SetDefinition[] = [];
  const apply = (operations: readonly IpsetOperation[]) => {
    for (const operation of operations) if (operation.do === 'create') sets.push(operation.set);
    return kernel.ipset.apply(operations);
  };
  const run = new ProxyRun({ ...kernel, ipset: { ...kernel.ipset, apply } });
  await run.begin(makeCluster(size, seed).objects());
  await run.stop();
  // The first of each family: the second one follows the plan of all Services, and depends on the time.
  const families = new Map<Family, Restore>();
  for (const restore of run.restores)
    if (!families.has(restore.family)) families.set(restore.family, restore);
  return { restores: [...families.values()], sets };
}

function prepare({ opponent }: Step, restores: readonly Restore[], { host }: Sandbox): Run {
  if (opponent !== 'ours') return (opponent === 'raw' ? spawnAll : execAll)(commandsOf(restores));
  return async () => {
    const meter = new Meter();
    for (const { family } of restores) await host.iptables.save(family);
    for (const { family, operations } of restores) check(await host.iptables.restore(family, operations));
    return meter.stop(2 * restores.length);
  };
}

function commandsOf(restores: readonly Restore[]): ToolCommand[] {
  const saves = restores.map(({ family }) => ({ command: [program('save', family)], input: '' }) as const);
  return [...saves, ...batchCommands({ kind: 'rules', restores })];
}

/** Throws if a chain is missing. */
async function checkRules({ host }: Sandbox, restores: readonly Restore[]): Promise<void> {
  for (const { family, operations } of restores) {
    const saved = await host.iptables.save(family);
    for (const operation of operations) {
      if (operation.do !== 'setChain') continue;
      const { table, name, rules } = operation.chain;
      const found = saved.get(`${table}/${name}`)?.length;
      if (found !== rules.length)
        throw new Error(`chain ${table}/${name} has ${found ?? 'no'} rules, not ${rules.length}`);
    }
  }
}
