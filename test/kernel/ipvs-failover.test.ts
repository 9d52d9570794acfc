// One of three nodes is taken away from a client that spreads its connections over them (ECMP): with the same table of mh on every node,
// packets of open connections lead to the same endpoints over the others. With direct return by tunnel, replies pass no node; with NAT, they
// pass the node that translates them.
//
//   client ── lan ─┬─ node-0, node-1, node-2 (IPVS)
//                  └─ web-0 … web-3 (endpoints, which have the virtual IP and decapsulate)
// Needs: ipvs, dummy device, iptables-legacy
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { release } from 'node:os';
import { after, describe, type TestContext, test } from 'node:test';
import type { RealServer } from '../../src/kernel/ipvs/types.js';
import { realServersOf } from '../../src/kernel/ipvs/values/serverLists.js';
import type { Cure } from '../../src/proxy/modes/ipvs/index.js';
import type { VirtualServiceItem } from '../../src/proxy/modes/ipvs/plan/items.js';
import { IPVS_DEFAULTS } from '../../src/proxy/modes/ipvs/plan/options.js';
import { sysctls } from '../../src/proxy/modes/ipvs/plan/planNode.js';
import { PATIENCE } from '../laboratory/patience.js';
import { FollowingService } from '../support/failover/followingService.js';
import { ManyConnections, serve, total } from '../support/failover/manyConnections.js';
import { ask } from '../support/namespaces/witnesses.js';

const VIP = '203.0.113.1';
const PORT = 80;
const CLIENT = '192.168.60.100';
const NODES = [0, 1, 2];
const ENDPOINTS = [0, 1, 2, 3];
const nodeAddress = (node: number) => `192.168.60.${1 + node}`;
const endpointAddress = (endpoint: number) => `192.168.60.${11 + endpoint}`;

/** Runs lines of ip(8). */
function ip(options: readonly string[], lines: readonly string[]): void {
  execFileSync('ip', [...options, '-batch', '-'], { input: lines.map((line) => `${line}\n`).join('') });
}

/** Writes settings of a namespace. */
function set(namespace: string, settings: readonly (readonly [name: string, value: string])[]): void {
  ask(
    namespace,
    'sh',
    '-ec',
    settings.map(([name, value]) => `echo ${value} > /proc/sys/${name}`).join('\n'),
  );
}

let networks = 0;

/** The client, the nodes without virtual services, and servers behind them, until the test ends: later ones meet none of their connections. */
async function network(t: TestContext) {
  const prefix = `knp-${process.pid}-${++networks}`;
  const lan = `${prefix}-lan`;
  const hosts = [
    { name: 'client', address: CLIENT },
    ...NODES.map((node) => ({ name: `node-${node}`, address: nodeAddress(node) })),
    ...ENDPOINTS.map((endpoint) => ({ name: `web-${endpoint}`, address: endpointAddress(endpoint) })),
  ].map((host) => ({ ...host, namespace: `${prefix}-${host.name}` }));
  const namespaces = [lan, ...hosts.map(({ namespace }) => namespace)];
  const closing: (() => unknown)[] = [
    () =>
      ip(
        [],
        namespaces.map((name) => `netns delete ${name}`),
      ),
  ];
  t.after(async () => {
    for (const close of closing.reverse()) await close();
  });
  const cable = ({ name, namespace }: { name: string; namespace: string }) =>
    `link add eth0 netns ${namespace} type veth peer name ${name} netns ${lan}`;
  ip([], [...namespaces.map((name) => `netns add ${name}`), ...hosts.map(cable)]);
  const ports = hosts.map(({ name }) => `link set ${name} master lan up`);
  ip(['-n', lan], ['link add lan type bridge', 'link set lan up', ...ports]);
  for (const { name, namespace, address } of hosts) {
    const lines = ['link set lo up', 'link set eth0 up', `address add ${address}/24 dev eth0`];
    if (name.startsWith('node')) {
      lines.push('link add kube-ipvs0 type dummy', `address add ${VIP}/32 dev kube-ipvs0`);
    } else if (name.startsWith('web')) {
      const tunnel = [`link add dsr type ipip local ${address}`, 'link set dsr up'];
      lines.push(...tunnel, `address add ${VIP}/32 dev lo`);
    }
    ip(['-n', namespace], lines);
  }
  const namesOf = (kind: string) => namespaces.filter((name) => name.startsWith(`${prefix}-${kind}`));
  const [client = '', nodes, webs] = [namesOf('client')[0], namesOf('node'), namesOf('web')];
  set(client, [['net/ipv4/fib_multipath_hash_policy', '1']]);
  const services: FollowingService[] = [];
  for (const node of nodes) {
    const service = await FollowingService.open(`/run/netns/${node}`);
    closing.push(() => service.close());
    services.push(service);
  }
  for (const [endpoint, web] of webs.entries()) {
    const filters = ['all', 'dsr'].map((link) => [`net/ipv4/conf/${link}/rp_filter`, '0'] as const);
    const redirects = ['all', 'eth0'].map((link) => [`net/ipv4/conf/${link}/accept_redirects`, '0'] as const);
    set(web, [...filters, ...redirects]);
    const server = await serve(web, `web-${endpoint}`, PORT);
    closing.push(() => server.close());
  }
  return { lan, client, nodes, webs, services };
}

type Network = Awaited<ReturnType<typeof network>>;

/** The client's route to the virtual IP, over these nodes. */
function routeOver({ client }: Network, nodes: readonly number[]): void {
  const hops = nodes.map((node) => `nexthop via ${nodeAddress(node)}`);
  ip(['-n', client], [`route replace ${VIP}/32 ${hops.join(' ')}`]);
}

/** The endpoints' route to the client, over a node. */
function replyOver({ webs }: Network, node: number): void {
  for (const web of webs) ip(['-n', web], [`route replace ${CLIENT}/32 via ${nodeAddress(node)}`]);
}

/** How the nodes lead connections to endpoints. */
interface Mesh {
  readonly scheduler: 'mh' | 'rr';
  readonly inOrder: boolean;
  readonly forwarding: RealServer['forwarding'];
}

/** What a test sets on all nodes. */
interface Setting {
  readonly scheduler: 'mh' | 'rr';
  readonly cures: readonly Cure[];
  /** Number of connections. */
  readonly count: number;
  /** How long the client waits for answers after the change, in s: longer if all connections are to go on. */
  readonly patience: number;
  readonly forwarding?: RealServer['forwarding'];
}

/** The virtual service with these endpoints. */
function wanted({ scheduler, inOrder, forwarding }: Mesh, endpoints: readonly number[]): VirtualServiceItem {
  const servers = endpoints.map(
    (endpoint): RealServer => ({
      ...{ address: endpointAddress(endpoint), port: PORT, forwarding },
      ...{ weight: 1, upperThreshold: 0, lowerThreshold: 0 },
    }),
  );
  const schedulerFlags = scheduler === 'mh' ? (['mh-port'] as const) : [];
  return {
    ...{ kind: 'virtualService', ...realServersOf(4, servers), ...(inOrder && { inOrder }) },
    service: { address: VIP, port: PORT, protocol: 'tcp', scheduler, schedulerFlags, onePacket: false },
  };
}

/** Endpoints in the orders in which the nodes see them: all have the same at the end. */
const HISTORIES = [
  [[3], [1, 3]],
  [
    [0, 2],
    [0, 1, 2],
  ],
  [[2, 3]],
];

/** The nodes get the settings of ipvs mode and the virtual service. */
async function program(
  { nodes, services }: Network,
  { scheduler, cures, forwarding = 'tunnel' }: Setting,
): Promise<void> {
  const options = { ...IPVS_DEFAULTS, kernelRelease: release(), cures: new Set(cures) };
  const settings = [['net/ipv4/vs/sloppy_tcp', '0'] as const, ...sysctls(options)];
  const mesh = { scheduler, inOrder: cures.includes('node-failover') && scheduler === 'mh', forwarding };
  for (const [i, service] of services.entries()) {
    set(nodes[i] as string, settings);
    for (const some of HISTORIES[i] ?? []) await service.become(wanted(mesh, some));
    await service.become(wanted(mesh, ENDPOINTS));
  }
}

const FAILOVER = ['node-failover'] as const;

/** Opens the connections, and asks over them again after a change of the network: the share that goes on. */
async function survivors(
  all: Network,
  setting: Setting,
  t: TestContext,
  change: () => void,
): Promise<number> {
  await program(all, setting);
  const connections = new ManyConnections(all.client);
  try {
    const { answers, failed } = await connections.open(VIP, PORT, setting.count);
    assert.deepEqual([total(answers), failed], [setting.count, {}]);
    const hasConnections = (endpoint: number) =>
      Object.keys(answers).some((answer) => answer.startsWith(`web-${endpoint} `));
    assert.ok(ENDPOINTS.every(hasConnections), JSON.stringify(answers));
    change();
    const later = await connections.ask(setting.patience);
    t.diagnostic(JSON.stringify({ before: answers, later }));
    return total(later.answers) / setting.count;
  } finally {
    await connections.close();
  }
}

/** The share of the connections over three nodes that goes on over two. */
async function lose(setting: Setting, t: TestContext): Promise<number> {
  const all = await network(t);
  routeOver(all, NODES);
  return survivors(all, setting, t, () => {
    ip(['-n', all.lan], ['link set node-1 down']);
    routeOver(all, [0, 2]);
  });
}

/** The share that goes on with NAT, when the client's packets and the replies take the way over another node. */
async function moved(t: TestContext, rule: readonly string[], patience: number): Promise<number> {
  const all = await network(t);
  const over = (node: number) => {
    routeOver(all, [node]);
    replyOver(all, node);
  };
  over(1);
  for (const node of all.nodes) ask(node, 'iptables-legacy', ...rule);
  const setting = {
    scheduler: 'mh',
    cures: FAILOVER,
    count: 300,
    patience,
    forwarding: 'masquerade',
  } as const;
  return survivors(all, setting, t, () => over(2));
}

const FORWARD = ['-A', 'FORWARD', '-j', 'ACCEPT'];
const MASQUERADE = '-t nat -A POSTROUTING -p tcp --dport 80 -j MASQUERADE --random-fully'.split(' ');

/** For connections of which many get no answer, and of which all get one, on a slow machine too. In s. */
const [SHORT, LONG] = [10, PATIENCE / 1000];

// Loaded by the first tunnel, unless it is built in. With it, each namespace of a later test would have a link more.
after(() => execFileSync('sh', ['-ec', 'if lsmod | grep -q "^ipip "; then rmmod ipip; fi']));

describe('a node is taken away from open connections', () => {
  test('mh with node-failover: they go on', async (t) => {
    assert.ok((await lose({ scheduler: 'mh', cures: FAILOVER, count: 1000, patience: LONG }, t)) >= 0.99);
  });

  test('mh without it: those of the node break', async (t) => {
    assert.ok((await lose({ scheduler: 'mh', cures: [], count: 1000, patience: SHORT }, t)) < 0.8);
  });

  test('rr: those of the node break', async (t) => {
    assert.ok((await lose({ scheduler: 'rr', cures: [], count: 1000, patience: SHORT }, t)) < 0.8);
  });

  test('NAT: they go on if the replies pass the other node too', async (t) => {
    assert.ok((await moved(t, FORWARD, LONG)) >= 0.99);
  });

  test('NAT with masquerading: they break', async (t) => {
    assert.ok((await moved(t, MASQUERADE, SHORT)) < 0.05);
  });
});
