// One of three nodes is taken away from a client that spreads its connections over them (ECMP): with the same table of mh on every node,
// packets of open connections lead to the same endpoints over the others. Direct return by tunnel: replies pass no node.
//
//   client ── lan ─┬─ node-0, node-1, node-2 (IPVS)
//                  └─ web-0 … web-3 (endpoints, which have the virtual IP and decapsulate)
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { release } from 'node:os';
import { after, describe, test } from 'node:test';
import type { RealServer } from '../../src/kernel/ipvs/types.js';
import { realServersOf } from '../../src/kernel/ipvs/values/serverLists.js';
import type { Cure } from '../../src/modes/ipvs/index.js';
import type { VirtualServiceItem } from '../../src/modes/ipvs/plan/items.js';
import { IPVS_DEFAULTS } from '../../src/modes/ipvs/plan/options.js';
import { sysctls } from '../../src/modes/ipvs/plan/planNode.js';
import { closeAfter } from '../support/closeAfter.js';
import { FollowingService } from '../support/failover/followingService.js';
import { type Answers, ManyConnections, serve, total } from '../support/failover/manyConnections.js';
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
  for (const endpoint of ENDPOINTS) {
    const namespace = attach(lan, `web-${endpoint}`, endpointAddress(endpoint));
    sh(
      namespace,
      `ip link add dsr type ipip local ${endpointAddress(endpoint)}`,
      'ip link set dsr up',
      `ip address add ${VIP}/32 dev lo`,
      'for name in all dsr; do echo 0 > /proc/sys/net/ipv4/conf/$name/rp_filter; done',
    );
    closeAfter(await serve(namespace.name, `web-${endpoint}`, PORT));
  }
  sh(client, 'echo 1 > /proc/sys/net/ipv4/fib_multipath_hash_policy');
  const services = [];
  for (const node of nodes) {
    sh(node, 'ip link add kube-ipvs0 type dummy', `ip address add ${VIP}/32 dev kube-ipvs0`);
    services.push(closeAfter(await FollowingService.open(node.path)));
  }
  return { lan, client, nodes, services };
}

type Network = Awaited<ReturnType<typeof network>>;

/** The client's route to the virtual IP, over these nodes. */
function routeOver({ client }: Network, nodes: readonly number[]): void {
  const hops = nodes.map((node) => `nexthop via ${nodeAddress(node)}`);
  sh(client, `ip route replace ${VIP}/32 ${hops.join(' ')}`);
}

/** The virtual service with these endpoints. */
function wanted(scheduler: string, endpoints: readonly number[], inOrder: boolean): VirtualServiceItem {
  const servers = endpoints.map(
    (endpoint): RealServer => ({
      ...{ address: endpointAddress(endpoint), port: PORT, forwarding: 'tunnel' },
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
async function program({ nodes, services }: Network, scheduler: string, cures: readonly Cure[]) {
  const options = { ...IPVS_DEFAULTS, kernelRelease: release(), cures: new Set(cures) };
  const settings = [['net/ipv4/vs/sloppy_tcp', '0'], ...sysctls(options)];
  const inOrder = cures.includes('node-failover') && scheduler === 'mh';
  for (const [i, service] of services.entries()) {
    sh(nodes[i] as Namespace, ...settings.map(([name, value]) => `echo ${value} > /proc/sys/${name}`));
    for (const some of HISTORIES[i] ?? []) await service.become(wanted(scheduler, some, inOrder));
    await service.become(wanted(scheduler, ENDPOINTS, inOrder));
  }
}

const share = ({ answers }: Answers) => total(answers) / COUNT;

describe('a node is taken away from 1000 open connections', async () => {
  const all = await network();

  async function lose(scheduler: string, cures: readonly Cure[]) {
    await program(all, scheduler, cures);
    routeOver(all, NODES);
    const connections = new ManyConnections(all.client.name);
    try {
      const before = await connections.open(VIP, PORT, COUNT);
      assert.deepEqual(before.failed, {});
      assert.deepEqual(
        Object.keys(before.answers).sort(),
        ENDPOINTS.map((endpoint) => `web-${endpoint} ${CLIENT}`),
      );
      sh(all.lan, 'ip link set node-1 down');
      routeOver(all, [0, 2]);
      return await connections.ask(10);
    } finally {
      sh(all.lan, 'ip link set node-1 up');
      await connections.close();
    }
  }

  test('mh with node-failover: they go on', async (t) => {
    const after = await lose('mh', ['node-failover']);
    t.diagnostic(JSON.stringify(after));
    assert.ok(share(after) >= 0.99, JSON.stringify(after));
  });

  test('mh without it: those of the node break', async (t) => {
    const after = await lose('mh', []);
    t.diagnostic(JSON.stringify(after));
    assert.ok(share(after) < 0.8, JSON.stringify(after));
  });

  test('rr: those of the node break', async (t) => {
    for (const cures of [[], ['node-failover']] as const) {
      const after = await lose('rr', cures);
      t.diagnostic(JSON.stringify(after));
      assert.ok(share(after) < 0.85, JSON.stringify(after));
    }
  });
});
