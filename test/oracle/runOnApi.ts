// A recorded cluster with an API server, and the agent on the real kernel of this process's network namespace. Prints
// the result as JSON. Argument: name of the recording.
import { release } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { runAgent } from '../../src/command/agent/agent.js';
import { openApi } from '../../src/command/agent/api.js';
import { ipvsOptions } from '../../src/command/modes/ipvs/fromConfiguration.js';
import { type OpenIpvsKernel as Kernel, openIpvsKernel } from '../../src/command/modes/ipvs/parts.js';
import { openMetrics } from '../../src/command/servers/metrics.js';
import { createIpvsMode } from '../../src/proxy/modes/ipvs/index.js';
import { nodeFacts } from '../../src/proxy/services/nodeFacts.js';
import { ApiCluster } from '../support/apiServer/apiCluster.js';
import { decodeConfiguration } from '../support/clusters/decodeConfiguration.js';
import { layOut, toolOutput } from '../support/namespaces/tools.js';
import { differences, recordedObjects, type Scenario, scenarios } from '../support/oracle/oracle.js';
import { healthNow, recordedHealth } from '../support/oracle/recordedHealth.js';

/** The result of one step. */
export interface ApiStep {
  readonly step: string;
  readonly differences: readonly string[];
  /** Health check ports whose responses differ from the recording. */
  readonly health: readonly { readonly recorded: string | undefined; readonly found: string | undefined }[];
}

/** Time to wait for a Node with addresses, in ms. Some recordings have none. */
const NODE_WAIT = 1000;
/** Time without a pass after which the state is compared, in ms. */
const QUIET = 1000;
/** Number of consecutive comparisons without a pass after which differences count as permanent. */
const LOOKS = 20;

/** The result. */
export interface ApiReport {
  readonly steps: readonly ApiStep[];
  /** The agent's exit. */
  readonly status: number;
  /** Failed operations. */
  readonly failures: number;
}

async function main(scenario: Scenario): Promise<ApiReport> {
  layOut(scenario);
  const kernel = await openIpvsKernel(false);
  const cluster = await ApiCluster.start();
  cluster.hold(recordedObjects(scenario.folder));
  const passes = { made: 0, failures: 0 };
  const log = pino({ level: 'debug' }, { write: (line: string) => note(passes, line) });
  const stop = new AbortController();
  const agent = startAgent(scenario, kernel, cluster.server.url, log, stop.signal);
  const steps: ApiStep[] = [];
  for (const step of scenario.steps) {
    cluster.hold(recordedObjects(step));
    const found = await settled(passes, () => differences(step, toolOutput()));
    const health = await Promise.all(
      recordedHealth(step).map(async ({ port, answer }) => ({
        recorded: answer,
        found: await healthNow(port),
      })),
    );
    steps.push({
      step,
      differences: found,
      health: health.filter(({ recorded, found }) => recorded !== found),
    });
  }
  stop.abort('the test');
  const status = await agent;
  await cluster.close();
  kernel.close();
  return { steps, status, failures: passes.failures };
}

/**
 * Waits until there are no differences or they are permanent, and returns them. A comparison blocks this thread, also
 * for the agent, and may take seconds: the agent runs only between comparisons.
 */
async function settled(passes: { readonly made: number }, look: () => string[]): Promise<string[]> {
  for (let looks = 0; ; ) {
    const { made } = passes;
    await wait(QUIET);
    if (passes.made > made || made === 0) {
      looks = 0;
      continue;
    }
    const found = look();
    if (found.length === 0 || ++looks === LOOKS) return found;
  }
}

function note(passes: { made: number; failures: number }, line: string): void {
  const { msg, failures = 0 } = JSON.parse(line) as { msg: string; failures?: number };
  if (msg !== 'synced') return;
  passes.made++;
  passes.failures += failures;
}

async function startAgent(
  scenario: Scenario,
  kernel: Kernel,
  master: string,
  log: Parameters<typeof runAgent>[0]['log'],
  stop: AbortSignal,
): Promise<number> {
  const recorded = { ...scenario.configuration, clientConnection: {} };
  const { configuration } = decodeConfiguration(recorded);
  const about = { version: '0', startedAt: Date.now(), now: Date.now };
  const metrics = openMetrics({ ...about, kubernetesVersion: 'v0' });
  const nodeName = 'node-a';
  const api = await openApi({ configuration, master, nodeName, allNodes: false, version: '0', log, metrics });
  const host = await kernel.rtnetlink.listAddresses();
  const options = ipvsOptions(configuration, { families: [4, 6], kernelRelease: release() });
  const mode = createIpvsMode(kernel, options);
  const node = nodeFacts(nodeName, {
    node: await api.ownNode({ stop: AbortSignal.timeout(NODE_WAIT) }),
    host: (nodeIPs) => mode.host.facts(host, nodeIPs),
    bindAddress: configuration.bindAddress,
  });
  const { source, announcer } = api;
  const parts = {
    log,
    version: '0',
    startedAt: about.startedAt,
    metrics,
    configuration,
    opened: {
      mode,
      families: options.families,
      minSyncPeriod: configuration.ipvs.minSyncPeriod,
      kernel,
      metrics: { parts: { ipvs: kernel.ipvs, ipset: kernel.ipset } },
    },
    stop,
  };
  const status = await runAgent({ ...parts, source, announcer, node, configFile: undefined, flags: {} });
  api.close();
  metrics.close();
  return status;
}

const scenario = scenarios('ipvs').find(({ name }) => name === process.argv[2]);
if (!scenario) throw new Error(`there is no recording ${process.argv[2]}`);
process.stdout.write(JSON.stringify(await main(scenario)));
