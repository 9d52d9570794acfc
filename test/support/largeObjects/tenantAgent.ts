// An agent on a kernel that keeps nothing, in a process of its own, so that its memory and its time can be measured.
//
// node dist/test/support/largeObjects/tenantAgent.js MODE URL
//
// Prints the address of its health server, then a line of JSON for each pass.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { pino } from 'pino';
import { runAgent } from '../../../src/command/agent/agent.js';
import { SILENT } from '../../../src/command/agent/announce.js';
import { keepYoungGenerationSmall } from '../../../src/command/agent/heap.js';
import { completed, defaultConfiguration } from '../../../src/command/config/configuration.js';
import { MODES } from '../../../src/command/modes/select.js';
import { openMetrics } from '../../../src/command/servers/metrics.js';
import { ApiSource } from '../../../src/proxy/api/apiSource.js';
import { ApiClient } from '../../../src/proxy/api/client.js';
import { connectToApi } from '../../../src/proxy/api/connection.js';
import { nodeFacts } from '../../../src/proxy/services/nodeFacts.js';
import { loopTurns } from '../measures/loopTimes.js';
import { openAccepting } from './acceptingKernel.js';

/** What the agent has used until the end of a pass. */
export interface PassFigures {
  readonly full: boolean;
  readonly services: number;
  readonly operations: number;
  readonly failures: number;
  /** Changes of objects that were received since the start, and those of them that no pass has read. */
  readonly received: number;
  readonly pending: number;
  /** Bytes of the input of iptables-restore since the start. */
  readonly bytes: number;
  /** CPU time of all threads since the start of the process, in ms. */
  readonly cpu: number;
  /** Resident memory now, and the most of it since the start, in MB. */
  readonly resident: number;
  readonly peak: number;
  /** Longest turn of the event loop since the pass before, in ms of CPU time. */
  readonly turn: number;
}

const [mode = '', master = ''] = process.argv.slice(2);
keepYoungGenerationSmall();
const accepted = { operations: 0, bytes: 0 };
const reserved = createServer().listen(0, '127.0.0.1');
await once(reserved, 'listening');
const healthzBindAddress = `127.0.0.1:${(reserved.address() as AddressInfo).port}`;
reserved.close();
await once(reserved, 'close');

const turns = loopTurns();
const metrics = openMetrics({ version: 'test', kubernetesVersion: 'v1.36.0', startedAt: 0 });
/** The sum of the values of metrics without labels. */
const sumOf = async (...shown: readonly { get(): Promise<{ values: { value: number }[] }> }[]) => {
  const values = await Promise.all(shown.map((each) => each.get()));
  return values.reduce((sum, { values: [first] }) => sum + (first?.value ?? 0), 0);
};
const stop = new AbortController();
const client = new ApiClient(await connectToApi({ master }), { userAgent: 'test' });
const ended = runAgent({
  log: pino({ base: null, level: 'debug' }, { write: (line: string) => void logged(line) }),
  version: 'test',
  startedAt: Date.now(),
  metrics,
  configuration: completed(
    {
      ...defaultConfiguration(),
      healthzBindAddress,
      metricsBindAddress: '127.0.0.1:0',
    },
    MODES,
  ),
  configFile: undefined,
  flags: {},
  opened: openAccepting(mode, accepted),
  source: new ApiSource({
    client,
    nodeName: 'node-a',
    trouble: ({ error }) => process.stderr.write(`${error}\n`),
  }),
  node: nodeFacts('node-a'),
  meetingPoint: `\0knp-tenant-agent-${process.pid}`,
  announcer: SILENT,
  stop: stop.signal,
});
process.stdout.write(`${healthzBindAddress}\n`);
process.once('SIGTERM', () => stop.abort('SIGTERM'));
process.exitCode = await ended;
turns.close();
client.close();

async function logged(line: string): Promise<void> {
  const { msg, full, services, operations, failures } = JSON.parse(line) as PassFigures & { msg: string };
  if (msg !== 'synced') return;
  const { user, system } = process.cpuUsage();
  const { serviceChanges, endpointChanges, serviceChangesPending, endpointChangesPending } =
    metrics.kubeProxy;
  const figures = {
    full,
    services,
    operations,
    failures,
    bytes: accepted.bytes,
    cpu: (user + system) / 1000,
    resident: process.memoryUsage.rss() / 1e6,
    peak: Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1000,
    turn: turns.take(),
  };
  const received = await sumOf(serviceChanges, endpointChanges);
  const pending = await sumOf(serviceChangesPending, endpointChangesPending);
  process.stdout.write(`${JSON.stringify({ ...figures, received, pending } satisfies PassFigures)}\n`);
}
