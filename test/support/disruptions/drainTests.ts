// The tests of the setting drain-timeout in the modes without real servers: clients with open connections send all the time while an
// endpoint terminates. Both families at once.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Lab, openLab } from '../../laboratory/lab.js';
import { LabHost } from '../../laboratory/labHost.js';
import { ManifestFolder } from '../../laboratory/manifestFolder.js';
import { PATIENCE } from '../../laboratory/patience.js';
import { NODE_A, type Pod, SHELL, WEB, WEB_PORT } from '../../laboratory/places.js';
import { ProxyProcess } from '../../laboratory/proxyProcess.js';
import { SteadyClient, type SteadyReport } from '../../laboratory/steadyClient.js';
import { closeAfter } from '../closeAfter.js';
import { ask } from '../namespaces/witnesses.js';
import { annotations } from '../settings/objects.js';

const FAMILIES = [4, 6] as const;
type Family = (typeof FAMILIES)[number];

/** The endpoint that terminates, and the one that stays. */
const [ENDING, STAYING] = WEB as [Pod, Pod, Pod];

/** The Services: their settings, in s, and whether the endpoint leaves the slices soon after it began to terminate. */
const CASES = {
  plain: {},
  short: { bound: '2' },
  long: { bound: '3600' },
  left: { bound: '3', leaves: true },
} satisfies Record<string, { readonly bound?: string; readonly leaves?: true }>;
type Name = keyof typeof CASES;
const NAMES = Object.keys(CASES) as Name[];

const addressOf = (name: Name, family: Family) =>
  family === 4 ? `10.96.41.${1 + NAMES.indexOf(name)}` : `fd00:10:96:41::${1 + NAMES.indexOf(name)}`;

const TERMINATING = { ready: false, serving: true, terminating: true };

/** All Services with their slices: while clients connect, when the endpoint terminates, and after it has left where it does. */
function manifest(step: 'connect' | 'terminate' | 'leave'): string {
  const items = NAMES.flatMap((name) => {
    const { bound, leaves }: { bound?: string; leaves?: true } = CASES[name];
    const settings = annotations(bound === undefined ? {} : { 'drain-timeout': bound });
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'drain', name, annotations: settings },
      spec: {
        clusterIP: addressOf(name, 4),
        clusterIPs: FAMILIES.map((family) => addressOf(name, family)),
        ipFamilies: ['IPv4', 'IPv6'],
        ports: [{ port: 80 }],
      },
    };
    const endpoint = (pod: Pod, family: Family, conditions = {}) => ({
      addresses: [family === 4 ? pod.ipv4 : pod.ipv6],
      nodeName: pod.node.name,
      conditions,
    });
    const slices = FAMILIES.map((family) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        namespace: 'drain',
        name: `${name}-${family}`,
        labels: { 'kubernetes.io/service-name': name },
      },
      addressType: `IPv${family}`,
      ports: [{ port: WEB_PORT }],
      endpoints: [
        ...(step === 'leave' && leaves
          ? []
          : [endpoint(ENDING, family, step === 'connect' ? {} : TERMINATING)]),
        ...(step === 'connect' ? [] : [endpoint(STAYING, family)]),
      ],
    }));
    return [service, ...slices];
  });
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

/** The connections, by name. */
const reports = new Map<string, SteadyReport>();
/** When the proxy had read that the endpoint terminates, as Date.now(), and when all times were over. */
let began = 0;
let ended = 0;

async function run(flags: readonly string[], whenOpen?: (lab: Lab) => Promise<void>): Promise<void> {
  const lab = closeAfter(openLab([SHELL, ...WEB]));
  ask(lab.namespace(NODE_A), 'sysctl', '-q', '-w', 'net.ipv4.ip_forward=1');
  const manifests = closeAfter(new ManifestFolder(''));
  manifests.write('all.json', manifest('connect'));
  const servers = [ENDING, STAYING].map(async (pod) => {
    const host = closeAfter(await LabHost.open(lab.namespace(pod)));
    await host.serve(pod.name, { tcp: [WEB_PORT], udp: [] });
  });
  await Promise.all(servers);
  const client = closeAfter(await SteadyClient.open(lab.namespace(SHELL)));
  const given = [...flags, '--service-settings=drain-timeout'];
  const proxy = closeAfter(new ProxyProcess(lab.namespace(NODE_A), manifests.path, given));
  await proxy.programmed();
  for (const family of FAMILIES)
    for (const name of NAMES)
      await client.connect({
        ...{ name: `${name} IPv${family}`, protocol: 'tcp', port: 80, every: 50 },
        address: addressOf(name, family),
      });
  await whenOpen?.(lab);
  const write = (step: 'terminate' | 'leave') => {
    const lines = proxy.log.length;
    manifests.write('all.json', manifest(step));
    return proxy.synced(lines);
  };
  const { ts, latencyMs } = await write('terminate');
  began = Number(ts) - Math.round(Number(latencyMs));
  await write('leave');
  await delay(5500);
  ended = Date.now();
  for (const deadline = ended + PATIENCE; ; await delay(50)) {
    for (const [name, report] of Object.entries(await client.report())) reports.set(name, report);
    if (FAMILIES.every(haveAllHappened) || Date.now() > deadline) break;
  }
}

function reportOf(name: Name, family: Family): SteadyReport {
  const report = reports.get(`${name} IPv${family}`);
  assert.ok(report, `no report of ${name} IPv${family}`);
  return report;
}

/** The connections that are reset, and those that go on. */
const RESET = ['short', 'left'] as const;
const GOES_ON = ['plain', 'long'] as const;

/** The last answer over a connection, as Date.now(). */
const lastOf = (name: Name, family: Family) => reportOf(name, family).answers[ENDING.name]?.last ?? 0;

/** Whether everything has happened that the tests of a family expect. */
const haveAllHappened = (family: Family): boolean =>
  RESET.every((name) => reportOf(name, family).error !== undefined) &&
  GOES_ON.every((name) => reportOf(name, family).error !== undefined || lastOf(name, family) > ended);

/** The tests of a file, with the flags of a mode. @param whenOpen called when all connections are open */
export function testDrainTimeout(flags: readonly string[], whenOpen?: (lab: Lab) => Promise<void>): void {
  before(() => run(flags, whenOpen));

  for (const family of FAMILIES) {
    for (const name of RESET) {
      test(`${name}: the connection is reset when the time is over, and not before, IPv${family}`, () => {
        const { error, errorAt = Number.POSITIVE_INFINITY } = reportOf(name, family);
        assert.equal(error, 'ECONNRESET');
        const bound = 1000 * Number(CASES[name].bound);
        const after = errorAt - began;
        // On a busy machine, a connection that goes on has longer pauses.
        const { gap = 0 } = reportOf('plain', family).answers[ENDING.name] ?? {};
        assert.ok(
          after >= bound && after <= bound + Math.max(2000, 10 * gap),
          `reset ${after} ms after the endpoint began to terminate; others had pauses of ${gap} ms`,
        );
      });
    }

    for (const name of GOES_ON) {
      test(`${name}: the connection goes on, IPv${family}`, () => {
        assert.equal(reportOf(name, family).error, undefined);
        const last = lastOf(name, family);
        assert.ok(last > ended, `the last answer came ${ended - last} ms before the end`);
      });
    }
  }
}
