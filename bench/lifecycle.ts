// Jobs in which one kernel is programmed once for several steps: the life of a proxy.
import { restoreInput } from '../src/kernel/iptables/index.js';
import { type Cluster, makeCluster } from './cluster.js';
import {
  type Context,
  eachOf,
  inSandbox,
  type Job,
  type Measured,
  programmeKey,
  stepOf,
  takeStep,
} from './context.js';
import { emptyKernel, MODES, type ProxyKernel } from './modes.js';
import { AT_ONCE, CHANGES, CHANGES_AT_ONCE } from './nftables/record.js';
import type { Workload } from './phases.js';
import { type MeasuredPass, ProxyRun } from './proxyRun.js';
import { collectGarbage, type Sandbox } from './sandbox.js';
import { LIVES, type Life } from './scenarios.js';
import type { LifeName, ScenarioName, Size, Step } from './types.js';
import { readWorkload } from './workloads.js';

/** Measured changes of the node in one life. */
const NODE_CHANGES = 5;
/** Time without changes after which the audit starts that is measured, in ms. */
const AUDIT_AFTER = 1000;

/** The scenarios of a proxy's life, for one size and repetition. */
export function proxyJob(steps: readonly Step[], size: Size, life: LifeName): Job {
  return {
    steps,
    run: (context) => inSandbox((sandbox) => live(context, { steps }, { size, life }, sandbox)),
  };
}

async function live(
  context: Context,
  job: Pick<Job, 'steps'>,
  { size, life }: { readonly size: Size; readonly life: LifeName },
  sandbox: Sandbox,
): Promise<void> {
  const { host, iptables, ipvs, ipset, nftables, sysctl } = sandbox;
  const kernel: ProxyKernel = { ...host, iptables, ipvs, ipset, nftables, sysctl };
  const cluster = makeCluster(size, context.options.seed);
  const { full, nodeLabel, endpoint, restart, audit, drain, deletion, service, endpoints } = LIVES[life];
  const start = (auditAfter?: number) => new ProxyRun(MODES[life], kernel, auditAfter);
  const begin = async (run: ProxyRun, scenario?: ScenarioName) => {
    const objects = cluster.objects();
    const step = stepOf(job, scenario, 'ours');
    if (!step) await run.begin(objects);
    else
      await takeStep(context, step, async (window) => [
        withFirstService(await window(() => run.begin(objects))),
      ]);
  };
  const take = async (scenario: ScenarioName | undefined, work: () => Promise<readonly MeasuredPass[]>) => {
    let passes: readonly MeasuredPass[] | undefined;
    await takeStep(context, stepOf(job, scenario, 'ours'), async (window) => {
      passes = await window(work);
      return passes.map(measured);
    });
    return passes;
  };

  const first = start();
  await begin(first, full);
  const workload: Workload =
    life === 'ipvs'
      ? await readWorkload(sandbox, first.restores)
      : { sets: [], phases: [{ kind: 'rules', restores: first.restores }] };
  await take(nodeLabel, () => changeNode(first, cluster));
  const replace = () => changeEndpoints(first, cluster);
  // Methods make the same changes, even if those of the proxy are not measured.
  const changes = ((await take(endpoint, replace)) ?? (await replace())).map(({ restores }) => restores);
  await take(service, () => repeated(CHANGES, () => first.report(cluster.addService())));
  await take(endpoints, () =>
    repeated(CHANGES_AT_ONCE, () => first.report(cluster.replaceEndpoints(AT_ONCE))),
  );
  await first.stop();
  const key = programmeKey(life, size);
  if (!context.workloads.has(key)) context.workloads.set(key, { ...workload, changes });

  const second = start();
  await begin(second, restart);
  await second.stop();

  if (audit) {
    const third = start(AUDIT_AFTER);
    await begin(third);
    await take(audit, async () => [await third.audit()]);
    await third.stop();
  }

  if (!deletion) return;
  const last = start();
  await begin(last);
  await take(drain, async () => [await last.report(cluster.terminate())]);
  await take(deletion, async () => [await last.report(cluster.deleteAll())]);
  await last.stop();
}

/** The proxy's own part: its kernel accepts everything. */
export function inMemoryJob(steps: readonly Step[], size: Size, life: LifeName): Job {
  const { full, nodeLabel, endpoint }: Partial<NonNullable<Life['inMemory']>> = LIVES[life].inMemory ?? {};
  return {
    steps,
    async run(context) {
      const cluster = makeCluster(size, context.options.seed);
      const run = new ProxyRun(MODES[life], emptyKernel());
      const take = (scenario: ScenarioName | undefined, work: () => Promise<readonly MeasuredPass[]>) =>
        takeStep(context, stepOf({ steps }, scenario, 'ours'), async (window) =>
          (await window(work)).map(measured),
        );
      const step = stepOf({ steps }, full, 'ours');
      if (!step) await run.begin([...cluster.objects()]);
      await takeStep(context, step, async (window) => {
        const before = usedHeap();
        const objects = [...cluster.objects()];
        const pass = await window(() => run.begin(objects));
        objects.length = 0; // the proxy has those that it keeps
        const heap = usedHeap() - before;
        return [{ ...measured(pass), heap }];
      });
      await take(nodeLabel, () => changeNode(run, cluster));
      await take(endpoint, () => changeEndpoints(run, cluster));
      await run.stop();
    },
  };
}

/** In bytes, after a garbage collection. */
function usedHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function changeNode(run: ProxyRun, cluster: Cluster): Promise<MeasuredPass[]> {
  let zone = 0;
  return repeated(NODE_CHANGES, () => run.report([cluster.nodeInZone(`zone-${++zone}`)]));
}

function changeEndpoints(run: ProxyRun, cluster: Cluster): Promise<MeasuredPass[]> {
  return repeated(CHANGES, () => run.report([cluster.replaceEndpoint()]));
}

function repeated<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  return eachOf(new Array<() => Promise<T>>(times).fill(work));
}

function measured({ cost, operations, longestBlock, restores }: MeasuredPass): Measured {
  const input = restores.reduce((sum, restore) => sum + restoreInput(restore.operations).length, 0);
  return { cost, operations, longestBlock, input };
}

function withFirstService(pass: MeasuredPass): Measured {
  return { ...measured(pass), firstService: pass.firstService };
}
