// An agent of node-a on a fake kernel, and an API server for it in this process.
import { pino } from 'pino';
import { runAgent } from '../../../src/command/agent/agent.js';
import { SILENT } from '../../../src/command/agent/announce.js';
import { openApi } from '../../../src/command/agent/api.js';
import type { FollowedConfiguration } from '../../../src/command/agent/followConfiguration.js';
import {
  completed,
  type DetectLocalMode,
  defaultConfiguration,
} from '../../../src/command/config/configuration.js';
import { MODES } from '../../../src/command/modes/select.js';
import { openMetrics } from '../../../src/command/servers/metrics.js';
import type { ApiTimeouts } from '../../../src/proxy/api/client.js';
import type { ReflectorTimes } from '../../../src/proxy/api/reflector.js';
import { decodeObject } from '../../../src/proxy/objects/decode.js';
import type { Node } from '../../../src/proxy/objects/types.js';
import { nodeFacts } from '../../../src/proxy/services/nodeFacts.js';
import type { HostFacts } from '../../../src/proxy/services/types.js';
import { QUICK } from '../apiServer/cluster.js';
import { node, service, slice } from '../apiServer/objects.js';
import { ApiServer, type ApiServerOptions } from '../apiServer/server.js';
import { closeAfter } from '../closeAfter.js';
import type { TestKernel } from './testKernel.js';

/** Agents of other tests may run in the same network namespace. */
const MEETING_POINT = `\0knp-test-agent-${process.pid}`;
/** Time between two audits, in ms. */
export const AUDIT = 50;

/** An API server with a node and two Services, one with an endpoint. */
export async function startServer(podCIDR: string, options: ApiServerOptions = {}): Promise<ApiServer> {
  const server = closeAfter(await new ApiServer(options).start());
  server.store.set(service('a', '10.96.0.1'));
  server.store.set(slice('a', ['10.244.1.7']));
  server.store.set(service('b', '10.96.0.2'));
  server.store.set(node('node-a', { podCIDRs: [podCIDR] }));
  return server;
}

/** What a test sets of an agent. */
export interface AgentSettings {
  readonly detectLocalMode?: DetectLocalMode;
  readonly configFile?: FollowedConfiguration;
  readonly kernel: TestKernel;
  readonly healthzBindAddress?: string;
  readonly metricsBindAddress?: string;
  readonly mirroredVersion?: string;
  /** Default: no kubeconfig, and the URL of the server. */
  readonly kubeconfig?: string;
  readonly master?: string;
  /** Waits for the Node object, at most so long once the Nodes have been read, in ms; default: it is known. */
  readonly nodeLimit?: number;
  /** Times of watches besides those of {@link QUICK}. */
  readonly times?: Partial<ReflectorTimes>;
  readonly timeouts?: Partial<ApiTimeouts>;
  /** The host at the start; by default, nothing is known of it. */
  readonly host?: HostFacts;
}

/** Starts the agent of node-a, with podCIDR 10.244.1.0/24 at the start. */
export async function startAgent(
  server: ApiServer,
  {
    detectLocalMode = 'ClusterCIDR',
    configFile,
    kernel,
    healthzBindAddress = '127.0.0.1:0',
    metricsBindAddress = '127.0.0.1:0',
    mirroredVersion = '',
    kubeconfig = '',
    master = kubeconfig === '' ? server.url : '',
    nodeLimit,
    times,
    timeouts,
    host,
  }: AgentSettings,
) {
  const usual = defaultConfiguration();
  const configuration = completed(
    {
      ...usual,
      detectLocalMode,
      healthzBindAddress,
      mirroredVersion,
      metricsBindAddress,
      clientConnection: { ...usual.clientConnection, kubeconfig, qps: -1, burst: 0 },
      ipvs: { ...usual.ipvs, syncPeriod: AUDIT },
    },
    MODES,
  );
  const { object } = decodeObject(node('node-a', { podCIDRs: ['10.244.1.0/24'] }));
  const lines: string[] = [];
  const stop = new AbortController();
  closeAfter({ close: () => stop.abort('test') });
  let troubles = 0;
  const failed = () => {
    troubles++;
  };
  let ended: number | undefined;
  const metrics = openMetrics({ version: 'test', kubernetesVersion: 'v1.36.0', startedAt: 0 });
  const log = pino({ base: null, level: 'debug' }, { write: (line: string) => lines.push(line) });
  const api = closeAfter(
    await openApi({
      ...{
        configuration,
        master,
        nodeName: 'node-a',
        allNodes: false,
        version: 'test',
        log,
        metrics,
        failed,
      },
      ...{ times: { ...QUICK, ...times }, ...(timeouts && { timeouts }) },
    }),
  );
  const known = {
    node: nodeFacts('node-a', { node: object as Node, ...(host && { host: () => host }) }),
    nodeAddresses: (object as Node).addresses,
  };
  const ownNode = async (missing: () => void) => {
    const limit = nodeLimit as number;
    const node = await api.ownNode({ stop: stop.signal, missing, limit });
    return { node: nodeFacts('node-a', { node }), nodeAddresses: node?.addresses ?? [] };
  };
  const status = runAgent({
    log,
    version: 'test',
    startedAt: Date.now(),
    metrics,
    configuration,
    configFile,
    flags: {},
    opened: kernel.open(AUDIT),
    source: api.source,
    ...known,
    ...(nodeLimit !== undefined && { ownNode }),
    hasNode: true,
    contacts: () => api.contacts(),
    meetingPoint: MEETING_POINT,
    announcer: SILENT,
    stop: stop.signal,
  });
  status.then((code) => {
    ended = code;
  });
  return {
    status,
    lines,
    kernel,
    metrics,
    logged: (text: string) => lines.filter((line) => line.includes(text)),
    stop: () => stop.abort('SIGTERM'),
    ended: () => ended,
    troubles: () => troubles,
    passes: () => lines.filter((line) => line.includes('"msg":"synced"')).length,
  };
}
