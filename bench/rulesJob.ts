// The rules of ipvs mode: each run saves and restores those of both families, as the agent does at its start, or restores them
// once more.
import type { IpsetOperation, SetDefinition } from '../src/kernel/ipset/types.js';
import type { Family } from '../src/kernel/net/address.js';
import { makeCluster } from './cluster.js';
import { type Context, inSandbox, type Job, plain, takeStep } from './context.js';
import { Meter } from './cost.js';
import { execAll, type Run, spawnAll } from './methods.js';
import { emptyKernel, ipvsMode } from './modes.js';
import type { Restore } from './phases.js';
import { ProxyRun } from './proxyRun.js';
import { check, type Sandbox } from './sandbox.js';
import { saveCommands, singleCommands } from './toolCommands.js';
import type { Step } from './types.js';

/** The restores of a first pass, and the sets that their rules name. */
interface Rules {
  readonly restores: readonly Restore[];
  readonly sets: readonly SetDefinition[];
}

/** Save and restore by one method, in a namespace without rules. */
export function rulesJob(step: Step): Job {
  return {
    steps: [step],
    run: (context: Context) =>
      inSandbox((sandbox) =>
        takeStep(context, step, async (window) => {
          const { restores, sets } = await planRules(step, context.options.seed);
          await sandbox.makeRoom({ sets });
          const again = step.scenario === 'rulesAgain';
          // The first restore starts the program that makes the later ones.
          if (again) await prepare(step, restores, sandbox, false)();
          const cost = await window(prepare(step, restores, sandbox, !again));
          await checkRules(sandbox, restores);
          return [plain(cost, (again ? 1 : 2) * restores.length)];
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
  const run = new ProxyRun(ipvsMode, { ...kernel, ipset: { ...kernel.ipset, apply } });
  await run.begin(makeCluster(size, seed).objects());
  await run.stop();
  // The first of each family: the second one follows the plan of all Services, and depends on the time.
  const families = new Map<Family, Restore>();
  for (const restore of run.restores)
    if (!families.has(restore.family)) families.set(restore.family, restore);
  return { restores: [...families.values()], sets };
}

/** Restores, with `saves` after a save of each family. */
function prepare({ method }: Step, restores: readonly Restore[], { iptables }: Sandbox, saves: boolean): Run {
  if (method !== 'ours') {
    const commands = [
      ...(saves ? saveCommands(restores) : []),
      ...singleCommands({ kind: 'rules', restores }),
    ];
    return (method === 'raw' ? spawnAll : execAll)(commands);
  }
  return async () => {
    const meter = new Meter();
    if (saves) for (const { family } of restores) for await (const _ of iptables.chains(family));
    for (const { family, operations } of restores) check(await iptables.restore(family, operations));
    return meter.stop();
  };
}

/** Throws if a chain is missing. */
async function checkRules({ iptables }: Sandbox, restores: readonly Restore[]): Promise<void> {
  for (const { family, operations } of restores) {
    const saved = await iptables.save(family);
    for (const operation of operations) {
      if (operation.do !== 'setChain') continue;
      const { table, name, rules } = operation.chain;
      const found = saved.get(`${table}/${name}`)?.length;
      if (found !== rules.length)
        throw new Error(`chain ${table}/${name} has ${found ?? 'no'} rules, not ${rules.length}`);
    }
  }
}
