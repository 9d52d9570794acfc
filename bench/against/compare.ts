// Measures two proxies one after the other, each in new network namespaces, with an API server of objects in memory.
import { loadavg } from 'node:os';
import type { ApiServer } from '../apiServer/server.js';
import { makeRawCluster } from '../cluster.js';
import { describeMachine } from '../machine.js';
import { spread as spreadOf } from '../statistics.js';
import type { Size } from '../types.js';
import { newestProcessId } from './procfs.js';
import { type ProxyProcess, QUIET, QUIET_LIMIT, versionOf } from './proxyProcess.js';
import { measureStream } from './stream.js';
import type {
  AgainstOptions,
  AgainstProgress,
  AgainstReport,
  FailedProxy,
  ProxyCommand,
  ProxyFigure,
  ProxyName,
  StreamFigure,
} from './types.js';
import { withProxy } from './withProxy.js';

/** Longest wait for the pass of a change, in ms: a proxy that needs no pass for a change does not log one. */
const CHANGE_LIMIT = 10_000;

/** The values of one run. */
interface Run {
  readonly firstSync: number;
  readonly cpu: number;
  readonly resident: number;
  readonly peak: number;
  readonly started: number;
  readonly endpointChange: readonly number[];
  readonly startedByChange: readonly number[];
  readonly nodeChange: readonly number[];
  readonly stream?: StreamFigure;
}

/** Measures the proxies alternately, so that a change of the machine's load concerns both. A failed proxy is reported. */
export async function compareProxies(
  options: AgainstOptions,
  progress: AgainstProgress,
): Promise<AgainstReport> {
  const started = new Date().toISOString();
  const [before = 0] = loadavg();
  const versions = Object.fromEntries(options.proxies.map(({ name, command }) => [name, versionOf(command)]));
  const figures: ProxyFigure[] = [];
  const failed: FailedProxy[] = [];
  for (const size of options.sizes) {
    const runs = new Map<ProxyCommand, Run[]>(options.proxies.map((proxy) => [proxy, []]));
    for (let repetition = 1; repetition <= options.repetitions; repetition++) {
      for (const [proxy, done] of runs) {
        progress(proxy.name, size, repetition);
        try {
          done.push(await measureOnce(proxy, size, options));
        } catch (error) {
          runs.delete(proxy);
          failed.push({ proxy: proxy.name, size, reason: (error as Error).message });
        }
      }
    }
    for (const [{ name }, done] of runs) figures.push({ proxy: name, size, ...figureOf(done) });
  }
  const [after = 0] = loadavg();
  const commandOf = (name: ProxyName) => options.proxies.find((proxy) => proxy.name === name) as ProxyCommand;
  return {
    version: 1,
    started,
    machine: await describeMachine(),
    load: [before, after],
    versions,
    commands: { ours: commandOf('ours').command, other: commandOf('other').command },
    passPattern: commandOf('other').passPattern.source,
    figures,
    failed,
  };
}

/** Starts a proxy, measures it, and ends it. */
function measureOnce(command: ProxyCommand, size: Size, options: AgainstOptions): Promise<Run> {
  const cluster = makeRawCluster(size, options.seed);
  const objects = cluster.objects().map(({ object }) => object);
  return withProxy(command, objects, async (start, server, sandbox) => {
    const before = newestProcessId();
    const proxy = start();
    const first = await proxy.firstPass(options.timeout);
    const { resident, peak } = proxy.memory;
    return {
      firstSync: first - proxy.began,
      cpu: proxy.cpuTime,
      resident,
      peak,
      started: newestProcessId() - before,
      ...(await measureChanges(proxy, server, cluster, options.changes)),
      ...(options.stream && { stream: await measureStream(sandbox, proxy, server, options.stream) }),
    };
  });
}

/**
 * Changes endpoints and the node, each after the proxy has been idle. One change before them is not measured: what a proxy starts once
 * and keeps, such as a thread for changes, is no cost of each.
 */
async function measureChanges(
  proxy: ProxyProcess,
  { store }: ApiServer,
  cluster: ReturnType<typeof makeRawCluster>,
  changes: number,
): Promise<Pick<Run, 'endpointChange' | 'startedByChange' | 'nodeChange'>> {
  const endpointChange: number[] = [];
  const startedByChange: number[] = [];
  const nodeChange: number[] = [];
  await passOf(proxy, () => store.set(cluster.replaceEndpoint().object));
  for (let i = 0; i < changes; i++) {
    let before = 0;
    const took = await passOf(proxy, () => {
      before = newestProcessId();
      store.set(cluster.replaceEndpoint().object);
    });
    if (took === undefined) continue;
    endpointChange.push(took);
    startedByChange.push(newestProcessId() - before);
  }
  for (let i = 0; i < changes; i++) {
    const took = await passOf(proxy, () => store.set(cluster.nodeInZone(`zone-${1 + (i % 2)}`).object));
    if (took === undefined) break;
    nodeChange.push(took);
  }
  return { endpointChange, startedByChange, nodeChange };
}

/** The time from a change to the end of the next pass, in ms; undefined if no pass followed. */
async function passOf(proxy: ProxyProcess, change: () => void): Promise<number | undefined> {
  await proxy.quiet(QUIET, QUIET_LIMIT);
  const { passes } = proxy;
  const began = performance.now();
  change();
  const ended = await proxy.passAfter(passes, CHANGE_LIMIT);
  return ended === undefined ? undefined : ended - began;
}

function figureOf(runs: readonly Run[]): Omit<ProxyFigure, 'proxy' | 'size'> {
  const each = (value: (run: Run) => number) => spreadOf(runs.map(value));
  const all = (values: (run: Run) => readonly number[]) => runs.flatMap(values);
  const [endpointChange, nodeChange] = [all((run) => run.endpointChange), all((run) => run.nodeChange)];
  const startedByChange = all((run) => run.startedByChange);
  return {
    firstSync: each((run) => run.firstSync),
    cpu: each((run) => run.cpu),
    resident: each((run) => run.resident),
    peak: each((run) => run.peak),
    started: each((run) => run.started),
    ...(endpointChange.length > 0 && { endpointChange: spreadOf(endpointChange) }),
    ...(nodeChange.length > 0 && { nodeChange: spreadOf(nodeChange) }),
    ...(startedByChange.length > 0 && { startedByChange: spreadOf(startedByChange) }),
    streams: runs.flatMap(({ stream }) => stream ?? []),
  };
}
