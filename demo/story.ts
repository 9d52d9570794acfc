// The phases of the demo, after the first pass of the proxy.
import { performance } from 'node:perf_hooks';
import type { Ipvs } from '../src/kernel/ipvs/types.js';
import { realServersBecome, weightOf } from '../test/laboratory/kernelView.js';
import { type ManifestFolder, withoutEndpoint, withTerminating } from '../test/laboratory/manifestFolder.js';
import { type Pod, WEB, WEB_PORT } from '../test/laboratory/places.js';
import type { ProxyProcess } from '../test/laboratory/proxyProcess.js';
import { Load, type Requests } from './load.js';
import type { Outcomes } from './outcomes.js';
import type { Measured } from './report.js';
import { bad, step } from './screen.js';
import { WEB_ADDRESSES, WEB_MANIFEST } from './web.js';

/** Minimum of a phase: time in ms, and requests of each flow, a multiple of three servers and of two. */
const LASTS = { requests: 12, time: 2500 };

/** The parts of the demo. */
export interface Stage {
  /** IPVS of the proxy's node. */
  readonly ipvs: Ipvs;
  readonly manifests: ManifestFolder;
  readonly outcomes: Outcomes;
  readonly flows: readonly Requests[];
  /** The endpoint of the open connection. */
  readonly lost: Pod;
  /** All proxies so far; the last one runs. */
  readonly proxies: [ProxyProcess, ...ProxyProcess[]];
  startProxy(): ProxyProcess;
}

/** Runs all phases. */
export async function play(stage: Stage): Promise<Measured> {
  const { outcomes, manifests, lost, proxies } = stage;
  const load = new Load(outcomes, stage.flows);
  const weights: (number | undefined)[] = [];
  const others = WEB.filter((pod) => pod !== lost);
  /** Makes a change, waits for the end of the phase after it, and checks the draining real server. */
  const phase = async <Result>(
    name: string,
    text: string,
    pods: readonly Pod[],
    change: () => Promise<Result>,
  ) => {
    const failed = outcomes.failures.length;
    const result = await step(`${name.padEnd(11)}  ${text}`, async () => {
      outcomes.change(name);
      const changed = await change();
      outcomes.begin({ name, servers: pods.map((pod) => pod.name) });
      await load.lastFor(LASTS);
      weights.push(await checkDraining(stage, pods.includes(lost)));
      return changed;
    });
    const failures = outcomes.failures.slice(failed);
    if (failures.length > 0) bad(`${failures.length} failures, the first one: ${failures[0]}`);
    return result;
  };
  const original = manifests.read(WEB_MANIFEST);
  await phase('start', 'every endpoint is ready', WEB, async () => {});
  const terminatingMs = await phase(
    'terminating',
    `${WEB_MANIFEST} has ${lost.name} terminating`,
    others,
    () => replace(stage, withTerminating(original, lost.ipv4), others),
  );
  await phase('gone', `${WEB_MANIFEST} has no ${lost.name} any more`, others, async () => {
    const logged = runningProxy(stage).log.length;
    manifests.write(WEB_MANIFEST, withoutEndpoint(original, lost.ipv4));
    await runningProxy(stage).synced(logged);
  });
  await phase('kill -9', 'the proxy is killed', others, () => runningProxy(stage).end('SIGKILL'));
  const { restartMs, adopted } = await phase('restart', 'the proxy is started again', others, async () => {
    const began = performance.now();
    proxies.push(stage.startProxy());
    const first = await runningProxy(stage).programmed();
    return { restartMs: performance.now() - began, adopted: first };
  });
  const backMs = await phase('back', `${WEB_MANIFEST} is as at the start`, WEB, () =>
    replace(stage, original, WEB),
  );
  await load.stop();
  return { weights, terminatingMs, backMs, restartMs, adopted };
}

function runningProxy({ proxies }: Stage): ProxyProcess {
  return proxies.at(-1) ?? proxies[0];
}

/** Replaces the manifest, and waits until every virtual service has the new real servers. */
async function replace({ ipvs, manifests }: Stage, text: string, pods: readonly Pod[]): Promise<number> {
  const expected = pods.map(realServer);
  const replaced = manifests.write(WEB_MANIFEST, text);
  const ids = Object.values(WEB_ADDRESSES);
  const moments = await Promise.all(ids.map((id) => realServersBecome(ipvs, id, expected)));
  return Math.max(...moments) - replaced;
}

/** The weight of the lost pod's real server, which must be 0 while the pod should have no new connections. */
async function checkDraining({ ipvs, outcomes, lost }: Stage, isReady: boolean): Promise<number | undefined> {
  const weight = await weightOf(ipvs, WEB_ADDRESSES.clusterIP, realServer(lost));
  const wanted = isReady ? 1 : 0;
  if (weight !== wanted) {
    const found = weight === undefined ? 'removed' : `present with weight ${weight}`;
    outcomes.fail(
      `the real server ${realServer(lost)} is ${found}; expected: weight ${wanted}`,
      performance.now(),
    );
  }
  return weight;
}

function realServer({ ipv4 }: Pod): string {
  return `${ipv4}:${WEB_PORT}`;
}
