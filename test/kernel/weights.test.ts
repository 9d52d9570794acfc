// Weights on the kernel in iptables and nftables mode: new connections follow them, and those with an endpoint of weight 0 go on.
// Needs: nftables
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { loadBenchAddon } from '../../bench/addon.js';
import { openIptables } from '../../src/kernel/iptables/index.js';
import type { Iptables } from '../../src/kernel/iptables/types.js';
import { openNftables } from '../../src/kernel/nftables/index.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import { PATIENCE } from '../laboratory/patience.js';
import { service, slice } from '../support/clusters/manifests.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';
import { tools } from '../support/namespaces/tools.js';
import { IptablesNode, NftablesNode } from '../support/oracle/testNode.js';

const NODE = {
  configuration: { serviceSettings: ['weight', 'zone-weights'] },
  interfaces: [{ link: 'lo', address: '10.0.0.9', prefix: 32 }],
};
const ENDPOINTS = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
const CONNECTIONS = 400;
/** By family: the endpoints, and the cluster IP. */
const PLACES = {
  4: { endpoints: ENDPOINTS, ip: '10.96.0.1' },
  6: { endpoints: ['fd00::1', 'fd00::2', 'fd00::3'], ip: 'fd00:96::1' },
} as const;
type Family = keyof typeof PLACES;

/** A Service with a slice of its own for each endpoint, with these weights. */
function web(...weights: readonly number[]): string {
  const slices = weights.map((weight, i) => {
    const head = `{namespace: demo, name: web-${i}, annotations: {kube-netlink-proxy.io/weight: "${weight}"},`;
    return slice('web', ENDPOINTS[i] as string).replace('{namespace: demo, name: web,', head);
  });
  return service('web', '10.96.0.1') + slices.join('');
}

/** A dual-stack Service on a node in zone a; its endpoints are in zones a, b and c. */
function inZones(zoneWeights: string): string {
  const slices = ([4, 6] as const).map((family) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'demo', name: `web-${family}`, labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: `IPv${family}`,
    ports: [{ port: 8080 }],
    endpoints: PLACES[family].endpoints.map((address, i) => ({ addresses: [address], zone: 'abc'[i] })),
  }));
  const web = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      ...{ namespace: 'demo', name: 'web' },
      annotations: { 'kube-netlink-proxy.io/zone-weights': zoneWeights },
    },
    spec: {
      ...{ clusterIP: PLACES[4].ip, clusterIPs: [PLACES[4].ip, PLACES[6].ip], ipFamilies: ['IPv4', 'IPv6'] },
      ports: [{ port: 80 }],
    },
  };
  const labels = { 'topology.kubernetes.io/zone': 'a' };
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a', labels } };
  return [node, web, ...slices].map((object) => `${JSON.stringify(object)}\n---\n`).join('');
}

const folder = mkdtempSync(join(tmpdir(), 'knp-weights-'));
// This machine's lock belongs to its own rules.
process.env['XTABLES_LOCKFILE'] = join(folder, 'lock');
const servers: Server[] = [];
let iptables: Iptables & { close(): void };
let nftables: Awaited<ReturnType<typeof openNftables>>;

before(async () => {
  loadBenchAddon().enterNewNetworkNamespace();
  selectBackend('nft');
  tools(
    'ip link set lo up',
    ...[...ENDPOINTS, '10.0.0.9'].map((address) => `ip address add ${address}/32 dev lo`),
    // On lo, the kernel sends no ICMP message for a packet that it refuses.
    'ip link add out type veth peer name peer',
    'ip link set out up && ip link set peer up',
    'ip route add 10.96.0.1 dev out src 10.0.0.9',
    // An address is tentative for a moment without nodad, and no route may have it as its source.
    ...['fd00::1', 'fd00::2', 'fd00::3', 'fd00::9'].map(
      (address) => `ip address add ${address}/128 dev lo nodad`,
    ),
    'ip route add fd00:96::1 dev out src fd00::9',
  );
  for (const address of [...PLACES[4].endpoints, ...PLACES[6].endpoints]) {
    const server = createServer((socket) =>
      socket.on('error', () => {}).on('data', () => socket.write(address)),
    );
    await new Promise<void>((resolve) => server.listen(8080, address, resolve));
    servers.push(server);
  }
  iptables = openIptables();
  // Its sockets are opened by other threads, which are still in the former namespace.
  nftables = await openNftables({ netns: `/proc/${process.pid}/ns/net` });
});

after(async () => {
  for (const server of servers) server.close();
  iptables.close();
  await nftables.close();
  rmSync(folder, { recursive: true });
});

/** A connection to the Service, after its first answer: the address of its endpoint. */
async function dial(family: Family = 4): Promise<{ readonly socket: Socket; readonly endpoint: string }> {
  const socket = connect({ host: PLACES[family].ip, port: 80 });
  return { socket, endpoint: await ask(socket) };
}

function ask(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.setTimeout(PATIENCE, () => socket.destroy(new Error('no answer')));
    socket.once('error', reject).once('data', (data) => resolve(String(data)));
    socket.write('?');
  });
}

/** The number of new connections that each endpoint gets. */
async function counted(family: Family = 4): Promise<number[]> {
  const { endpoints } = PLACES[family];
  const counts = endpoints.map(() => 0);
  for (let i = 0; i < CONNECTIONS; i++) {
    const { socket, endpoint } = await dial(family);
    const place = (endpoints as readonly string[]).indexOf(endpoint);
    counts[place] = (counts[place] as number) + 1;
    socket.resetAndDestroy();
  }
  return counts;
}

/** Whether a count has the expected share of {@link CONNECTIONS}, within six standard deviations. */
function assertShare(count: number | undefined, share: number, story: string): void {
  const deviation = Math.sqrt(CONNECTIONS * share * (1 - share));
  assert.ok(Math.abs((count ?? 0) - CONNECTIONS * share) <= 6 * deviation, `${story}: ${count} for ${share}`);
}

const kernel = new FakeKernel();
for (const [name, open] of [
  [
    'iptables mode',
    () => new IptablesNode(NODE, { iptables, sysctl: kernel.sysctl, conntrack: kernel.conntrack }, false),
  ],
  ['nftables mode', () => new NftablesNode(NODE, { nftables, conntrack: kernel.conntrack })],
  [
    'nftables mode, layout scalable',
    () => new NftablesNode(NODE, { nftables, conntrack: kernel.conntrack }, 'scalable'),
  ],
] as const) {
  it(`${name}: new connections follow the weights, and open ones go on`, async () => {
    const node = open();
    const program = async (...weights: readonly number[]) => {
      await node.loadText(web(...weights));
      assert.deepEqual((await node.sync()).failures, []);
      // What was written is what is read: a restart has nothing to do.
      const again = open();
      await again.loadText(web(...weights));
      assert.equal((await again.sync()).operations, 0, weights.join());
    };
    await program(6, 3, 1);
    const first = await counted();
    for (const [i, share] of [0.6, 0.3, 0.1].entries()) assertShare(first[i], share, `${name}: ${first}`);
    const socket = await openTo('10.0.0.1');

    await program(0, 1, 3);
    const second = await counted();
    for (const [i, share] of [0, 0.25, 0.75].entries()) assertShare(second[i], share, `${name}: ${second}`);
    assert.equal(await ask(socket), '10.0.0.1');

    await program(0, 0, 0);
    await assert.rejects(dial(), { code: 'ECONNREFUSED' });
    assert.equal(await ask(socket), '10.0.0.1');

    await program(65_535, 1, 1);
    const [most = 0] = await counted();
    assert.ok(
      most >= CONNECTIONS - 15,
      `${name}: ${most} connections with the endpoint of the highest weight`,
    );
    socket.resetAndDestroy();
    tools('nft flush ruleset');
  });

  it(`${name}: new connections follow the weights of zones in both families, and open ones go on`, async () => {
    const node = open();
    const program = async (zoneWeights: string) => {
      await node.loadText(inZones(zoneWeights));
      assert.deepEqual((await node.sync()).failures, []);
    };
    await program('same=6,c=3');
    const sockets = new Map<Family, Socket>();
    for (const family of [4, 6] as const) {
      const counts = await counted(family);
      for (const [i, share] of [0.6, 0.1, 0.3].entries()) assertShare(counts[i], share, `${name}: ${counts}`);
      sockets.set(family, await openTo(PLACES[family].endpoints[0], family));
    }
    await program('a=0,c=3');
    for (const [family, socket] of sockets) {
      const counts = await counted(family);
      for (const [i, share] of [0, 0.25, 0.75].entries()) assertShare(counts[i], share, `${name}: ${counts}`);
      assert.equal(await ask(socket), PLACES[family].endpoints[0]);
      socket.resetAndDestroy();
    }
    tools('nft flush ruleset');
  });
}

/** A connection with an endpoint that gets some of them. */
async function openTo(wanted: string, family: Family = 4): Promise<Socket> {
  for (let i = 0; i < 100; i++) {
    const { socket, endpoint } = await dial(family);
    if (endpoint === wanted) return socket;
    socket.resetAndDestroy();
  }
  return assert.fail(`no connection reached ${wanted}`);
}
