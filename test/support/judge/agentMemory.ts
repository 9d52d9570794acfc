// The memory and the descriptors of an agent while the objects of many histories change one after another, without pauses and traffic.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { EMPTY_CLUSTER, stateAfter } from '../../judge/core/cluster.js';
import { generateHistory } from '../../judge/core/generate.js';
import { type ProxySample, slopeOf } from '../../judge/core/growth.js';
import type { FaultName } from '../../judge/core/history.js';
import { objectsOf } from '../../judge/core/objects.js';
import { Faults } from '../../judge/run/faults.js';
import { openNetwork, SERVER_ADDRESS } from '../../judge/run/network.js';
import { JudgedProxy } from '../../judge/run/proxy.js';
import { sampleOf } from '../../judge/run/sample.js';
import { JudgeServer } from '../../judge/run/server.js';
import type { JudgedMode } from '../../judge/run/vandalism.js';
import { NODE_A } from '../../laboratory/places.js';
import { COMMAND } from '../../laboratory/proxyProcess.js';
import { ask } from '../namespaces/witnesses.js';

/** Changes of a history. They are made without faults of the history's own. */
const STEPS = { steps: 200, pause: 1, faults: [], faultTime: 1 };
/** A fault follows this number of changes, in turn. */
const BETWEEN_FAULTS = 400;
const FAULTS: readonly FaultName[] = ['serverErrors', 'chainsFlushed', 'serverDown', 'tablesDeleted'];
/** Time of a fault of the API server, in ms. */
const FAULT_TIME = 50;
/** Time in which the agent removes the objects of a history, in ms. */
const QUIET = 300;
/** Time between two changes, in ms: fewer of them share a pass. */
const PAUSE = 2;
/** The most changes of a pass, on average. On a busy machine a pass has more of them, and more are made. */
export const CHANGES_OF_A_PASS = 20;

/**
 * The most that V8's old generation takes, in MiB: twice what lives in it. Otherwise V8 collects garbage so late on a busy machine that resident
 * memory has gone up by more than a leak would make it. An agent that leaks ends at this limit, and the test fails.
 */
const HEAP = 48;

/** An agent after each history. */
export interface AgentMemory {
  readonly changes: number;
  readonly faults: number;
  /** Passes of the agent. */
  readonly passes: number;
  readonly samples: readonly (ProxySample & { readonly changes: number })[];
}

/** Makes at least this number of changes, and at most twice as many until the agent has made enough passes for it; the agent is not started again. */
export async function agentMemory(mode: JudgedMode, atLeast: number): Promise<AgentMemory> {
  const folder = mkdtempSync(join(tmpdir(), 'knp-memory-'));
  const network = openNetwork();
  const server = await new JudgeServer(SERVER_ADDRESS).start();
  const namespace = network.namespace(NODE_A);
  const flags = [
    '--kubeconfig {kubeconfig} --hostname-override {node} --proxy-mode {mode} --cluster-cidr 10.244.0.0/16,fd00:10:244::/48',
    '--iptables-min-sync-period 0s --iptables-sync-period 5s --ipvs-min-sync-period 0s --ipvs-sync-period 5s',
    '--conntrack-max-per-core 0',
  ];
  const command = [
    process.execPath,
    `--max-old-space-size=${HEAP}`,
    COMMAND,
    ...flags.flatMap((words) => words.split(' ')),
  ];
  const proxy = new JudgedProxy({ command, mode, namespace, folder, server: server.url, syncPeriod: 5 });
  try {
    server.hold(objectsOf(EMPTY_CLUSTER));
    proxy.start();
    return await run(proxy, server, namespace, atLeast);
  } finally {
    await proxy.end('SIGKILL');
    await server.close();
    network.close();
    rmSync(folder, { recursive: true });
  }
}

async function run(
  proxy: JudgedProxy,
  server: JudgeServer,
  namespace: string,
  atLeast: number,
): Promise<AgentMemory> {
  const began = performance.now();
  const faults = new Faults(proxy, server, namespace, () => performance.now());
  const samples: AgentMemory['samples'][number][] = [];
  let changes = 0;
  const hasEnough = () => changes >= 2 * atLeast || passesOf(namespace) > atLeast / CHANGES_OF_A_PASS;
  for (let seed = 1; changes < atLeast || !hasEnough(); seed++) {
    let state = EMPTY_CLUSTER;
    for (const { event } of generateHistory(seed, STEPS).steps) {
      state = stateAfter(state, event);
      server.hold(objectsOf(state));
      if (++changes % BETWEEN_FAULTS === 0) {
        faults.begin(FAULTS[(changes / BETWEEN_FAULTS) % FAULTS.length] as FaultName, FAULT_TIME);
        await faults.ended();
      }
      await delay(PAUSE);
    }
    server.hold(objectsOf(EMPTY_CLUSTER));
    await delay(QUIET);
    const sample = sampleOf(proxy.pid, performance.now());
    if (!sample) throw new Error('the agent ended by itself');
    samples.push({ ...sample, changes });
    if (seed % 25 === 0)
      console.log(`${changes} changes, ${sample.resident} KiB, ${sample.descriptors} descriptors`);
  }
  const passes = passesOf(namespace);
  console.log(`${passes} passes in ${Math.round((performance.now() - began) / 1000)} s`);
  return { changes, faults: (await faults.ended()).length, passes, samples };
}

/** The passes that an agent has made, by its metrics. */
function passesOf(namespace: string): number {
  const read = `fetch('http://127.0.0.1:10249/metrics').then((answer) => answer.text()).then(console.log)`;
  const text = ask(namespace, process.execPath, '-e', read);
  const counts = text.matchAll(/^kubeproxy_sync_proxy_rules_duration_seconds_count(?:\{.*\})? (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** The slope of a value per 10 000 changes with its standard error, without the first changes, in which the heap gets its size. */
export function slopeByChanges(
  { samples }: AgentMemory,
  value: 'resident' | 'descriptors',
  after: number,
): { readonly slope: number; readonly error: number } {
  const settled = samples.filter(({ changes }) => changes >= after);
  const slope = slopeOf([settled.map((one) => ({ x: one.changes / 10_000, y: one[value] }))]);
  if (!slope) throw new Error(`too few samples after ${after} changes`);
  return slope;
}
