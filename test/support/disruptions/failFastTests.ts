// The tests of the setting fail-fast, in any mode: clients with open connections send all the time, the network of an endpoint is taken
// away without a packet that would end them, and then the objects change. Both families at once.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Lab, openLab } from '../../laboratory/lab.js';
import { LabHost } from '../../laboratory/labHost.js';
import { ManifestFolder } from '../../laboratory/manifestFolder.js';
import { PATIENCE } from '../../laboratory/patience.js';
import { CLIENT, NODE_A, NODE_B, type Pod, SHELL, WEB, WEB_PORT } from '../../laboratory/places.js';
import { ProxyProcess, runOnce } from '../../laboratory/proxyProcess.js';
import { SteadyClient, type SteadyReport } from '../../laboratory/steadyClient.js';
import { closeAfter } from '../closeAfter.js';
import { ask } from '../namespaces/witnesses.js';
import { annotations } from '../settings/objects.js';

/** A mode of the proxy. */
export interface FailFastMode {
  readonly flags: readonly string[];
  /** Connections with a ready endpoint that leaves the slices are reset without the setting too. */
  readonly resetsRemoved: boolean;
  /** Called when all connections are open. */
  readonly whenOpen?: (lab: Lab) => Promise<void>;
}

const FAMILIES = [4, 6] as const;
type Family = (typeof FAMILIES)[number];

/** The endpoint that is taken away, the one that stays, and the one that terminates. */
const [DEAD, ALIVE, ENDING] = WEB as [Pod, Pod, Pod];
const UDP_PORT = 5353;
const NODE_PORT = 30_080;

/** A Service, and its slices in three steps: while clients connect, before the endpoint is taken away, and after it. */
interface Case {
  readonly setting?: string;
  readonly udp?: true;
  /** Pods, each with its conditions: `web-0 unready`. */
  readonly steps: readonly [readonly string[], readonly string[], readonly string[]];
}

const REMOVED = [[DEAD.name], [DEAD.name, ALIVE.name], [ALIVE.name]] as const;
const UNREADY = [[DEAD.name], [DEAD.name, ALIVE.name], [`${DEAD.name} unready`, ALIVE.name]] as const;

const CASES = {
  plain: { steps: REMOVED },
  'plain-unready': { steps: UNREADY },
  removed: { setting: 'removed', steps: REMOVED },
  'removed-unready': { setting: 'removed', steps: UNREADY },
  'not-serving': { setting: 'not-serving', steps: UNREADY },
  last: { setting: 'removed', steps: [[DEAD.name], [DEAD.name], []] },
  ending: {
    setting: 'not-serving',
    steps: [[ENDING.name], [`${ENDING.name} terminating`, ALIVE.name], [ALIVE.name]],
  },
  udp: { udp: true, steps: REMOVED },
} satisfies Record<string, Case>;
type Name = keyof typeof CASES;
const NAMES = Object.keys(CASES) as Name[];

const CONDITIONS: Readonly<Record<string, object>> = {
  '': {},
  unready: { ready: false, serving: false },
  terminating: { ready: false, serving: true, terminating: true },
};

const addressOf = (name: Name, family: Family) =>
  family === 4 ? `10.96.40.${1 + NAMES.indexOf(name)}` : `fd00:10:96:40::${1 + NAMES.indexOf(name)}`;

/** All Services with their slices of a step. */
function manifest(step: 0 | 1 | 2): string {
  const items = NAMES.flatMap((name) => {
    const { setting, udp, steps }: Case = CASES[name];
    const protocol = udp ? 'UDP' : 'TCP';
    const hasNodePort = name === 'removed';
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        namespace: 'fail',
        name,
        annotations: annotations(setting === undefined ? {} : { 'fail-fast': setting }),
      },
      spec: {
        type: hasNodePort ? 'NodePort' : 'ClusterIP',
        clusterIP: addressOf(name, 4),
        clusterIPs: FAMILIES.map((family) => addressOf(name, family)),
        ipFamilies: ['IPv4', 'IPv6'],
        ports: [{ port: 80, protocol, ...(hasNodePort && { nodePort: NODE_PORT }) }],
      },
    };
    const slices = FAMILIES.map((family) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        namespace: 'fail',
        name: `${name}-${family}`,
        labels: { 'kubernetes.io/service-name': name },
      },
      addressType: `IPv${family}`,
      ports: [{ port: udp ? UDP_PORT : WEB_PORT, protocol }],
      endpoints: steps[step].map((text) => endpoint(text, family)),
    }));
    return [service, ...slices];
  });
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

function endpoint(text: string, family: Family) {
  const [name, state = ''] = text.split(' ');
  const pod = WEB.find((each) => each.name === name) as Pod;
  const address = family === 4 ? pod.ipv4 : pod.ipv6;
  return { addresses: [address], nodeName: pod.node.name, conditions: CONDITIONS[state] };
}

/** Time for which clients are watched after the change, in ms, in addition to the silence before it. */
const WATCHED = 2500;
/** The longest time in which a flow of UDP moves, in ms, on a machine on which clients get answers without a pause. */
const UDP_BOUND = 100;
/** On a busy machine, everything may take this many of the longest pauses between the answers of a connection that nothing concerns. */
const PAUSES = 10;

/** The connections of a Service, by name. */
const reports = new Map<string, SteadyReport>();
/** When the proxy had read the changed objects, as Date.now(). */
let changed = 0;
/** When the pass that programmed them had ended. The bounds count from then: on a slow machine, the pass takes longer. */
let programmed = 0;
/** How long the endpoint had been silent by then, in ms: TCP waits at most as long again until it repeats a packet. */
let silence = 0;
/** The result of a pass of another proxy at the end. */
let restarted = '';
let proxy: ProxyProcess;

/** Runs the three steps, and collects the reports. */
async function run({ flags, whenOpen }: FailFastMode): Promise<void> {
  const lab: Lab = closeAfter(openLab([SHELL, ...WEB]));
  ask(lab.namespace(NODE_A), 'sysctl', '-q', '-w', 'net.ipv4.ip_forward=1');
  // As nodes have it: without a route, a packet to a cluster IP without endpoints reaches no rule that refuses it.
  for (const via of [NODE_B.ipv4, NODE_B.ipv6])
    ask(lab.namespace(NODE_A), 'ip', 'route', 'add', 'default', 'via', via);
  const manifests = closeAfter(new ManifestFolder(''));
  const write = async (step: 0 | 1 | 2) => {
    const lines = proxy.log.length;
    manifests.write('all.json', manifest(step));
    return proxy.synced(lines);
  };
  manifests.write('all.json', manifest(0));
  const servers = WEB.map(async (pod) => {
    const host = closeAfter(await LabHost.open(lab.namespace(pod)));
    await host.serve(pod.name, { tcp: [WEB_PORT], udp: [UDP_PORT] });
  });
  await Promise.all(servers);
  const clients = await Promise.all(
    [SHELL, CLIENT].map(async (place) => closeAfter(await SteadyClient.open(lab.namespace(place)))),
  );
  const given = [...flags, '--service-settings=fail-fast'];
  proxy = closeAfter(new ProxyProcess(lab.namespace(NODE_A), manifests.path, given));
  await proxy.programmed();
  const [shell, client] = clients as [SteadyClient, SteadyClient];
  for (const family of FAMILIES) {
    for (const name of NAMES) {
      const { udp }: Case = CASES[name];
      const [protocol, every] = udp ? (['udp', 5] as const) : (['tcp', 50] as const);
      const address = addressOf(name, family);
      await shell.connect({ name: `${name} IPv${family}`, protocol, address, port: 80, every });
    }
    const address = family === 4 ? NODE_A.ipv4 : NODE_A.ipv6;
    await client.connect({
      name: `node port IPv${family}`,
      protocol: 'tcp',
      address,
      port: NODE_PORT,
      every: 50,
    });
  }
  await whenOpen?.(lab);
  await write(1);
  const down = Date.now();
  ask(lab.namespace(DEAD.node), 'ip', 'link', 'set', DEAD.name, 'down');
  const { ts, latencyMs } = await write(2);
  programmed = Number(ts);
  changed = programmed - Math.round(Number(latencyMs));
  silence = programmed - down;
  await delay(WATCHED + silence);
  for (const deadline = Date.now() + PATIENCE; ; await delay(50)) {
    for (const each of clients)
      for (const [name, report] of Object.entries(await each.report())) reports.set(name, report);
    if (FAMILIES.every(haveAllHappened) || Date.now() > deadline) break;
  }
  const { stdout, stderr } = await runOnce(lab.namespace(NODE_A), manifests.path, given);
  restarted = stdout || stderr;
}

/** The report of a connection. */
function reportOf(name: Name | 'node port', family: Family): SteadyReport {
  const report = reports.get(`${name} IPv${family}`);
  assert.ok(report, `no report of ${name} IPv${family}`);
  return report;
}

/** The connections that are reset. */
const RESET = ['removed', 'not-serving', 'last', 'node port'] as const;

/** Whether everything has happened that the tests of a family expect. */
function haveAllHappened(family: Family): boolean {
  const { error, answers } = reportOf('ending', family);
  return (
    RESET.every((name) => reportOf(name, family).error !== undefined) &&
    (error !== undefined || (answers[ENDING.name]?.last ?? 0) - changed > WATCHED) &&
    ALIVE.name in reportOf('udp', family).answers
  );
}

/** The longest pause between answers of the endpoint that terminates, in ms: as long, the machine did something else. */
const pauseOf = (family: Family) => reportOf('ending', family).answers[ENDING.name]?.gap ?? 0;

/** The tests of a file. */
export function testFailFast(mode: FailFastMode): void {
  before(() => run(mode));

  for (const family of FAMILIES) {
    for (const name of RESET) {
      test(`${name}: the client's connection is reset by its next packet, IPv${family}`, (context) => {
        const { error, errorAt = Number.POSITIVE_INFINITY } = reportOf(name, family);
        assert.equal(error, 'ECONNRESET');
        context.diagnostic(`reset ${errorAt - changed} ms after the change was read`);
        const times = `${errorAt - programmed} ms after the pass, after a silence of ${silence} ms`;
        assert.ok(errorAt - programmed <= Math.max(1000, PAUSES * pauseOf(family)) + silence, times);
      });
    }

    test(`without the setting, or if it is not met, it is not, IPv${family}`, () => {
      const kept: readonly Name[] = [
        'plain-unready',
        'removed-unready',
        ...(mode.resetsRemoved ? [] : ['plain' as const]),
      ];
      for (const name of kept) assert.equal(reportOf(name, family).error, undefined, name);
    });

    test(`an endpoint that terminates keeps its connections, IPv${family}`, () => {
      const { error, answers } = reportOf('ending', family);
      assert.equal(error, undefined);
      const { last = 0 } = answers[ENDING.name] ?? {};
      assert.ok(
        last - changed > WATCHED,
        `the last answer came ${last - changed} ms after the change was read`,
      );
    });

    test(`a UDP flow moves to another endpoint, IPv${family}`, (context) => {
      const { answers } = reportOf('udp', family);
      const { first = Number.POSITIVE_INFINITY } = answers[ALIVE.name] ?? {};
      context.diagnostic(`answered ${first - changed} ms after the change was read`);
      const pauses = [DEAD, ALIVE].map((pod) => answers[pod.name]?.gap ?? 0);
      const times = `${first - programmed} ms after the pass; before and after, answers had pauses of ${pauses} ms`;
      assert.ok(first - programmed <= UDP_BOUND + PAUSES * Math.max(...pauses), times);
    });
  }

  test('a restart has no operations', () => {
    assert.match(restarted, /^\d+ services: 0 kernel operations /);
  });
}
