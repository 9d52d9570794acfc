// Jobs in which the raw limit programs one kernel for several steps: what the methods do in the life of a proxy.

import type { RealServer, VirtualService } from '../src/kernel/ipvs/types.js';
import { loadBenchAddon } from './addon.js';
import { addressAt } from './cluster.js';
import {
  type Context,
  eachOf,
  inSandbox,
  type Job,
  type Measured,
  plain,
  programmeOf,
  stepOf,
  takeStep,
} from './context.js';
import { costOf, sumOf } from './cost.js';
import { adderOf, DATAGRAM, execAll, spawnAll } from './methods.js';
import type { KernelNumbers, ServedService, ServerChange, Workload } from './phases.js';
import { countOperations, restoresOf } from './phases.js';
import { changeMessages, listMessages } from './rawMessages.js';
import type { Sandbox } from './sandbox.js';
import { LIVES } from './scenarios.js';
import { changeCommand, saveCommands, singleCommands } from './toolCommands.js';
import type { MethodName, ModeName, Size, Step } from './types.js';
import { realServer } from './workloads.js';

/** The methods of the life of a proxy, on a kernel that the raw limit has programmed. */
export function kernelJob(steps: readonly Step[], size: Size, mode: Exclude<ModeName, 'nftables'>): Job {
  const measure = mode === 'ipvs' ? measureIpvs : measureIptables;
  return {
    steps,
    run: (context) =>
      inSandbox(async (sandbox) => {
        const workload = programmeOf(context, mode, size);
        await sandbox.makeRoom(workload);
        await (await adderOf('raw', 0)(workload.phases, sandbox))();
        await measure(context, { steps }, workload, sandbox);
      }),
  };
}

type Measure = (
  context: Context,
  job: Pick<Job, 'steps'>,
  workload: Workload,
  sandbox: Sandbox,
) => Promise<void>;

const measureIpvs: Measure = async (context, job, workload, sandbox) => {
  const numbers = await sandbox.numbers();
  for (const scenario of ['restart', 'audit'] as const) {
    await takeStep(context, stepOf(job, scenario, 'raw'), async (window) => [
      await window(prepareLists(workload, numbers)),
    ]);
  }
  const endpoints = new Endpoints(servicesOf(workload));
  for (const method of CHANGERS) {
    await takeStep(context, stepOf(job, 'endpoint', method), (window) => {
      const runs = Array.from({ length: CHANGES }, () => prepareChange(method, endpoints.replace(), numbers));
      return window(() => eachOf(runs));
    });
  }
};

const measureIptables: Measure = async (context, job, workload) => {
  const { restart, audit, endpoint } = LIVES.iptables;
  for (const scenario of [restart, audit]) {
    const lists = spawnAll(saveCommands(restoresOf(workload)));
    await takeStep(context, stepOf(job, scenario, 'raw'), async (window) => [plain(await window(lists), 0)]);
  }
  // A change cannot be made twice: each method makes its share of them, in order.
  const { changes = [] } = workload;
  const share = Math.ceil(changes.length / RESTORERS.length);
  for (const [place, method] of RESTORERS.entries()) {
    const runs = changes.slice(place * share, (place + 1) * share).map((restores) => {
      const phase = { kind: 'rules', restores } as const;
      const run = (method === 'raw' ? spawnAll : execAll)(singleCommands(phase));
      return async () => plain(await run(), countOperations([phase]));
    });
    const step = stepOf(job, endpoint, method);
    if (step) await takeStep(context, step, (window) => window(() => eachOf(runs)));
    else await eachOf(runs);
  }
};

/** Methods that replace an endpoint in iptables mode. */
const RESTORERS = ['raw', 'execFile'] as const satisfies readonly MethodName[];
/** Methods that replace an endpoint in ipvs mode, and the number of changes of each. */
const CHANGERS = ['raw', 'rawSingle', 'spawn', 'execFile'] as const satisfies readonly MethodName[];
const CHANGES = 20;
/** First address of the new endpoints: 10.255.0.0/16. */
const FIRST_NEW_SERVER = 0x0aff_0000;

/** Real servers of virtual services, of which one after another is replaced. */
class Endpoints {
  readonly #services: { readonly service: VirtualService; servers: readonly RealServer[] }[];
  #replaced = 0;

  constructor(services: readonly ServedService[]) {
    this.#services = services.map(({ service, realServers }) => ({ service, servers: realServers }));
  }

  /** The addition of a real server, and the deletion of another one, far from the services of the last call. */
  replace(): ServerChange[] {
    const place = this.#replaced++;
    const changed = this.#services[(place * 37) % this.#services.length];
    const [oldest] = changed?.servers ?? [];
    if (!changed || !oldest) throw new Error('there is no real server to replace');
    const added = realServer(addressAt(FIRST_NEW_SERVER, place));
    changed.servers = [...changed.servers.slice(1), added];
    return [
      { deleted: false, service: changed.service, realServer: added },
      { deleted: true, service: changed.service, realServer: oldest },
    ];
  }
}

/** Carries the changes out. */
function prepareChange(
  method: (typeof CHANGERS)[number],
  changes: readonly ServerChange[],
  numbers: KernelNumbers,
): () => Promise<Measured> {
  if (method === 'spawn' || method === 'execFile') {
    const run = (method === 'spawn' ? spawnAll : execAll)(changes.map(changeCommand));
    return async () => plain(await run(), changes.length);
  }
  const { protocol, bytes, count } = changeMessages(changes, numbers);
  const load = method === 'raw' ? count : 1;
  const messages = new (loadBenchAddon().PreparedMessages)(protocol, bytes, load, DATAGRAM);
  return async () => plain(costOf(messages.send()), count);
}

/** Lists everything of a workload, and the rules as the proxy does. */
function prepareLists(workload: Workload, numbers: KernelNumbers): () => Promise<Measured> {
  const services = servicesOf(workload);
  const sets = workload.sets.map(({ name }) => name);
  const lists = listMessages({ services, sets }, numbers).map(
    ({ protocol, bytes, datagramSize }) =>
      new (loadBenchAddon().PreparedMessages)(protocol, bytes, 1, datagramSize),
  );
  const rules = spawnAll(saveCommands(restoresOf(workload)));
  return async () => plain(sumOf([...lists.map((list) => costOf(list.send())), await rules()]), 0);
}

function servicesOf({ phases }: Workload): readonly ServedService[] {
  return phases.flatMap((phase) => (phase.kind === 'services' ? phase.services : []));
}
