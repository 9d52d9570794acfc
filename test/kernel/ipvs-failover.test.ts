// One of three nodes is taken away from a client that spreads its connections over them (ECMP): with the same table of mh on every node,
// packets of open connections lead to the same endpoints over the others. With direct return by tunnel, replies pass no node; with NAT, they
// pass the node that translates them.
//
//   client ── lan ─┬─ node-0, node-1, node-2 (IPVS)
//                  └─ web-0 … web-3 (endpoints, which have the virtual IP and decapsulate)
// Needs: ipvs, dummy device, iptables-legacy
import assert from 'node:assert/strict';
import { release } from 'node:os';
import { after, describe, type TestContext, test } from 'node:test';
import type { RealServer } from '../../src/kernel/ipvs/types.js';
import { realServersOf } from '../../src/kernel/ipvs/values/serverLists.js';
import type { Cure } from '../../src/modes/ipvs/index.js';
import type { VirtualServiceItem } from '../../src/modes/ipvs/plan/items.js';
import { IPVS_DEFAULTS } from '../../src/modes/ipvs/plan/options.js';
import { sysctls } from '../../src/modes/ipvs/plan/planNode.js';
import { closeAfter } from '../support/closeAfter.js';
import { FollowingService } from '../support/failover/followingService.js';
import { ManyConnections, serve, total } from '../support/failover/manyConnections.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';

const VIP = '203.0.113.1';
const PORT = 80;
const CLIENT = '192.168.60.100';
const COUNT = 1000;
const NODES = [0, 1, 2];
const ENDPOINTS = [0, 1, 2, 3];
const nodeAddress = (node: number) => `192.168.60.${1 + node}`;
const endpointAddress = (endpoint: number) => `192.168.60.${11 + endpoint}`;

/** Runs lines of shell in a namespace. */
const sh = ({ run }: Namespace, ...lines: readonly string[]) => run('sh', '-ec', lines.join('\n'));

/** A namespace on the bridge. */
function attach(lan: Namespace, name: string, address: string): Namespace {
  const namespace = makeNamespace();
  after(() => namespace.remove());
  sh(
    lan,
    `ip link add ${name} type veth peer name eth0 netns ${namespace.name}`,
    `ip link set ${name} master lan up`,
  );
  sh(namespace, 'ip link set eth0 up', `ip address add ${address}/24 dev eth0`);
  return namespace;
}

/** The client, the nodes without virtual services, and servers behind them. */
async function network() {
  const lan = makeNamespace();
  after(() => lan.remove());
  sh(lan, 'ip link add lan type bridge', 'ip link set lan up');
  const client = attach(lan, 'client', CLIENT);
  const nodes = NODES.map((node) => attach(lan, `node-${node}`, nodeAddress(node)));
  const webs: Namespace[] = [];
  for (const endpoint of ENDPOINTS) {
    const namespace = attach(lan, `web-${endpoint}`, endpointAddress(endpoint));
    sh(
      namespace,
      `ip link add dsr type ipip local ${endpointAddress(endpoint)}`,
      'ip link set dsr up',
      `ip address add ${VIP}/32 dev lo`,
      'for name in all dsr; do echo 0 > /proc/sys/net/ipv4/conf/$name/rp_filter; done',
      'for name in all eth0; do echo 0 > /proc/sys/net/ipv4/conf/$name/accept_redirects; done',
    );
    webs.push(namespace);
    closeAfter(await serve(namespace.name, `web-${endpoint}`, PORT));
  }
  sh(client, 'echo 1 > /proc/sys/net/ipv4/fib_multipath_hash_policy');
  const services = [];
  for (const node of nodes) {
    sh(node, 'ip link add kube-ipvs0 type dummy', `ip address add ${VIP}/32 dev kube-ipvs0`);
    services.push(closeAfter(await FollowingService.open(node.path)));
  }
  return { lan, client, nodes, webs, services };
}

type Network = Awaited<ReturnType<typeof network>>;

/** The client's route to the virtual IP, over these nodes. */
function routeOver({ client }: Network, nodes: readonly number[]): void {
  const hops = nodes.map((node) => `nexthop via ${nodeAddress(node)}`);
  sh(client, `ip route replace ${VIP}/32 ${hops.join(' ')}`);
}

/** The endpoints' route to the client, over a node. */
function replyOver({ webs }: Network, node: number): void {
  for (const web of webs) sh(web, `ip route replace ${CLIENT}/32 via ${nodeAddress(node)}`);
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
  const settings = [['net/ipv4/vs/sloppy_tcp', '0'], ...sysctls(options)];
  const mesh = { scheduler, inOrder: cures.includes('node-failover') && scheduler === 'mh', forwarding };
  for (const [i, service] of services.entries()) {
    sh(nodes[i] as Namespace, ...settings.map(([name, value]) => `echo ${value} > /proc/sys/${name}`));
    for (const some of HISTORIES[i] ?? []) await service.become(wanted(mesh, some));
    await service.become(wanted(mesh, ENDPOINTS));
  }
}

const FAILOVER = ['node-failover'] as const;

describe('a node is taken away from 1000 open connections', async () => {
  const all = await network();

  /** Opens the connections, and asks over them again after a change of the network. */
  async function survivors(setting: Setting, t: TestContext, change: () => void): Promise<number> {
    await program(all, setting);
    const connections = new ManyConnections(all.client.name);
    try {
      const { answers, failed } = await connections.open(VIP, PORT, COUNT);
      assert.deepEqual([total(answers), failed], [COUNT, {}]);
      const found = ENDPOINTS.map((endpoint) =>
        Object.keys(answers).some((answer) => answer.startsWith(`web-${endpoint} `)),
      );
      assert.ok(!found.includes(false), JSON.stringify(answers));
      change();
      const later = await connections.ask(10);
      t.diagnostic(JSON.stringify({ before: answers, later }));
      return total(later.answers) / COUNT;
    } finally {
      await connections.close();
    }
  }

  /** The share of the connections that go on, over three nodes and then two. */
  async function lose(setting: Setting, t: TestContext): Promise<number> {
    routeOver(all, NODES);
    try {
      return await survivors(setting, t, () => {
        sh(all.lan, 'ip link set node-1 down');
        routeOver(all, [0, 2]);
      });
    } finally {
      sh(all.lan, 'ip link set node-1 up');
    }
  }

  /** The share that goes on with NAT, when the client's packets and the replies take the way over another node. */
  function moved(t: TestContext): Promise<number> {
    const over = (node: number) => {
      routeOver(all, [node]);
      replyOver(all, node);
    };
    over(1);
    return survivors({ scheduler: 'mh', cures: FAILOVER, forwarding: 'masquerade' }, t, () => over(2));
  }

  test('mh with node-failover: they go on', async (t) => {
    assert.ok((await lose({ scheduler: 'mh', cures: FAILOVER }, t)) >= 0.99);
  });

  test('mh without it: those of the node break', async (t) => {
    assert.ok((await lose({ scheduler: 'mh', cures: [] }, t)) < 0.8);
  });

  test('rr: those of the node break, of which a fourth has the same endpoint by chance with sloppy_tcp', async (t) => {
    assert.ok((await lose({ scheduler: 'rr', cures: [] }, t)) < 0.8);
    assert.ok((await lose({ scheduler: 'rr', cures: FAILOVER }, t)) < 0.85);
  });

  test('NAT: they go on if the replies pass the other node too, unless they are masqueraded', async (t) => {
    assert.ok((await moved(t)) >= 0.99);
    for (const node of all.nodes) {
      sh(node, 'iptables-legacy -t nat -A POSTROUTING -p tcp --dport 80 -j MASQUERADE --random-fully');
    }
    assert.ok((await moved(t)) < 0.05);
  });
});
