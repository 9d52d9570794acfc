// Jobs in which one kernel is programmed once for several steps: the life of a proxy, and what its opponents do on the same
// kernel.
import { loadAddon } from '../kernel/addon.js';
import { program as iptables } from '../kernel/iptables/index.js';
import type { RealServer, VirtualService } from '../kernel/ipvs/types.js';
import { addressAt, type Cluster, makeCluster } from './cluster.js';
import {
  type Context,
  inSandbox,
  type Job,
  type Measured,
  plain,
  sizeKey,
  stepOf,
  takeStep,
} from './context.js';
import { costOf, sumOf } from './cost.js';
import { adderOf, DATAGRAM, execAll, spawnAll } from './opponents.js';
import {
  type KernelNumbers,
  NO_IPVS,
  type Programme,
  type Restore,
  type ServedService,
  type ServerChange,
} from './phases.js';
import { readProgramme, realServer } from './programmes.js';
import { emptyKernel, type MeasuredPass, type ProxyKernel, ProxyRun } from './proxyRun.js';
import { changeMessages, listMessages } from './rawMessages.js';
import { collectGarbage, type Sandbox } from './sandbox.js';
import { changeCommand } from './toolCommands.js';
import type { OpponentName, ScenarioName, Size, Step } from './types.js';

/** Measured changes of an endpoint, and of the node, in one life. */
const CHANGES = 20;
const NODE_CHANGES = 5;
/** Time without changes after which the audit starts that is measured, in ms. */
const AUDIT_AFTER = 1000;

/** The scenarios of a proxy's life, for one size and repetition. */
export function proxyJob(steps: readonly Step[], size: Size): Job {
  return { steps, run: (context) => inSandbox((sandbox) => live(context, { steps }, size, sandbox)) };
}

async function live(context: Context, job: Pick<Job, 'steps'>, size: Size, sandbox: Sandbox): Promise<void> {
  const { host, ipvs, ipset, sysctl } = sandbox;
  if (!ipvs) throw new Error(NO_IPVS);
  const kernel: ProxyKernel = { ...host, ipvs, ipset, sysctl };
  const cluster = makeCluster(size, context.options.seed);
  const take = (scenario: ScenarioName, work: () => Promise<MeasuredPass | readonly MeasuredPass[]>) =>
    takeStep(context, stepOf(job, scenario, 'ours'), async (window) =>
      [await window(work)].flat().map(measured),
    );
  const begin = async (run: ProxyRun, scenario?: ScenarioName) => {
    const objects = cluster.objects();
    const step = scenario && stepOf(job, scenario, 'ours');
    if (!step) await run.begin(objects);
    else
      await takeStep(context, step, async (window) => [
        withFirstService(await window(() => run.begin(objects))),
      ]);
  };

  const first = new ProxyRun(kernel);
  await begin(first, 'full');
  if (!context.programmes.has(sizeKey(size))) {
    context.programmes.set(sizeKey(size), await readProgramme(sandbox, first.restores));
  }
  await take('nodeLabel', () => changeNode(first, cluster));
  await take('endpoint', () => repeated(CHANGES, () => first.report([cluster.replaceEndpoint()])));
  await first.stop();

  const second = new ProxyRun(kernel);
  await begin(second, 'restart');
  await second.stop();

  const third = new ProxyRun(kernel, AUDIT_AFTER);
  await begin(third);
  await take('audit', () => third.audit());
  await third.stop();

  const last = new ProxyRun(kernel);
  await begin(last);
  await take('drain', () => last.report(cluster.terminate()));
  await take('deletion', () => last.report(cluster.deleteAll()));
  await last.stop();
}

/** The proxy's own part: its kernel accepts everything. */
export function inMemoryJob(steps: readonly Step[], size: Size): Job {
  return {
    steps,
    async run(context) {
      const cluster = makeCluster(size, context.options.seed);
      const run = new ProxyRun(emptyKernel());
      await takeStep(context, stepOf({ steps }, 'fullInMemory', 'ours'), async (window) => {
        const before = usedHeap();
        const objects = [...cluster.objects()];
        const pass = await window(() => run.begin(objects));
        objects.length = 0; // the proxy has those that it keeps
        return [{ ...measured(pass), heap: usedHeap() - before }];
      });
      await takeStep(context, stepOf({ steps }, 'nodeLabelInMemory', 'ours'), async (window) =>
        (await window(() => changeNode(run, cluster))).map(measured),
      );
      await run.stop();
    },
  };
}

/** In bytes, after a garbage collection. */
function usedHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** The opponents of the life of a proxy, on a kernel that the raw limit has programmed. */
export function kernelJob(steps: readonly Step[], size: Size): Job {
  return {
    steps,
    run: (context) =>
      inSandbox(async (sandbox) => {
        const programme = context.programmes.get(sizeKey(size));
        if (!programme) throw new Error('the proxy has not programmed the kernel');
        await sandbox.makeRoom(programme);
        await (await adderOf('raw', 0)(programme.phases, sandbox))();
        const numbers = await sandbox.numbers();
        for (const scenario of ['restart', 'audit'] as const) {
          await takeStep(context, stepOf({ steps }, scenario, 'raw'), async (window) => [
            await window(prepareLists(programme, numbers)),
          ]);
        }
        const endpoints = new Endpoints(servicesOf(programme));
        for (const opponent of CHANGERS) {
          await takeStep(context, stepOf({ steps }, 'endpoint', opponent), (window) => {
            const runs = Array.from({ length: CHANGES }, () =>
              prepareChange(opponent, endpoints.replace(), numbers),
            );
            return window(() => eachOf(runs));
          });
        }
      }),
  };
}

/** Opponents that replace an endpoint. */
const CHANGERS = ['raw', 'rawSingle', 'spawn', 'execFile'] as const satisfies readonly OpponentName[];
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
  opponent: (typeof CHANGERS)[number],
  changes: readonly ServerChange[],
  numbers: KernelNumbers,
): () => Promise<Measured> {
  if (opponent === 'spawn' || opponent === 'execFile') {
    const run = (opponent === 'spawn' ? spawnAll : execAll)(changes.map(changeCommand));
    return async () => plain(await run(), changes.length);
  }
  const { protocol, bytes, count } = changeMessages(changes, numbers);
  const load = opponent === 'raw' ? count : 1;
  const messages = new (loadAddon().PreparedMessages)(protocol, bytes, load, DATAGRAM);
  return async () => plain(costOf(messages.send()), count);
}

/** Lists everything of a programme, and the rules as the proxy does. */
function prepareLists(programme: Programme, numbers: KernelNumbers): () => Promise<Measured> {
  const services = servicesOf(programme);
  const sets = programme.sets.map(({ name }) => name);
  const lists = listMessages({ services, sets }, numbers).map(
    ({ protocol, bytes, datagramSize }) =>
      new (loadAddon().PreparedMessages)(protocol, bytes, 1, datagramSize),
  );
  const families = new Set(restoresOf(programme).map(({ family }) => family));
  const rules = spawnAll([...families].map((family) => ({ command: [iptables('save', family)], input: '' })));
  return async () => plain(sumOf([...lists.map((list) => costOf(list.send())), await rules()]), 0);
}

function changeNode(run: ProxyRun, cluster: Cluster): Promise<MeasuredPass[]> {
  let zone = 0;
  return repeated(NODE_CHANGES, () => run.report([cluster.nodeInZone(`zone-${++zone}`)]));
}

function repeated<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  return eachOf(new Array<() => Promise<T>>(times).fill(work));
}

async function eachOf<T>(runs: readonly (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  for (const run of runs) results.push(await run());
  return results;
}

function measured({ cost, operations, longestBlock }: MeasuredPass): Measured {
  return { cost, operations, longestBlock };
}

function withFirstService(pass: MeasuredPass): Measured {
  return { ...measured(pass), firstService: pass.firstService };
}

function servicesOf({ phases }: Programme): readonly ServedService[] {
  return phases.flatMap((phase) => (phase.kind === 'services' ? phase.services : []));
}

function restoresOf({ phases }: Programme): readonly Restore[] {
  return phases.flatMap((phase) => (phase.kind === 'rules' ? phase.restores : []));
}
