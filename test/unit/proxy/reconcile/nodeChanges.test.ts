// After any changes of the node, its host and other nodes, in any order, the state from planning only the affected
// Services equals the state planned from nothing.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { FakeKernel } from '../../../../src/kernel/testing/index.js';
import {
  type Cure,
  createIpvsMode,
  IPVS_DEFAULTS,
  type IpvsOptions,
} from '../../../../src/proxy/modes/ipvs/index.js';
import { decodeObject } from '../../../../src/proxy/objects/decode.js';
import type { KubernetesObject } from '../../../../src/proxy/objects/types.js';
import { createProxy, type ServiceProxy } from '../../../../src/proxy/proxy.js';
import type { SyncSummary } from '../../../../src/proxy/reconcile/summary.js';
import type { HostChange } from '../../../../src/proxy/services/types.js';
import type { SourceEvents } from '../../../../src/proxy/source/source.js';
import { RandomCluster, randomFrom } from '../../../support/clusters/randomCluster.js';
import { WHOLE } from '../../../support/extent.js';

const SEEDS = WHOLE ? 60 : 8;
const STEPS = 12;
/** Turns of the event loop without a pass, after which no pass is due. */
const QUIET = 60;

const ADDRESSES = [
  'eth0 192.168.50.10/24',
  'eth0 192.168.50.10/32',
  'eth1 192.168.50.99/24',
  'eth1 192.0.2.1/32',
  'lo 192.0.2.2/32',
  'eth1 203.0.113.1/24',
  'eth0 2001:db8::1/128',
  'eth0 fd00:192::10/64',
  'eth0 fe80::1/64',
];
const NODE_PORT_ADDRESSES = [[], ['192.168.0.0/16'], ['192.0.2.0/24', '2001:db8::/32'], 'primary'] as const;
const CURES: readonly Cure[] = ['other-nodes', 'node-ports-off-vips', 'external-local', 'endpoint-order'];

/** A proxy on a kernel in memory that notifies it of every change of an address. */
class Node {
  readonly kernel = new FakeKernel();
  readonly proxy: ServiceProxy;
  readonly passes: SyncSummary[] = [];
  readonly failures: unknown[] = [];
  #source: SourceEvents | undefined;
  #hostChanged: (change: HostChange) => void = () => {};
  #objects = new Map<string, KubernetesObject>();

  constructor(options: Pick<IpvsOptions, 'nodePortAddresses' | 'cures' | 'localDetector'>) {
    const { rtnetlink } = this.kernel;
    const apply = rtnetlink.apply.bind(rtnetlink);
    rtnetlink.apply = async (operations) => {
      const results = await apply(operations);
      const changes = operations.flatMap((operation, i) =>
        'address' in operation && !results[i]
          ? [
              {
                ...operation.address,
                link: String(operation.address.link),
                deleted: operation.do === 'deleteAddress',
              },
            ]
          : [],
      );
      this.#hostChanged({ addresses: changes, links: [], lost: false });
      return results;
    };
    this.proxy = createProxy({
      source: {
        start: async (events) => {
          this.#source = events;
        },
        stop: () => {},
      },
      mode: createIpvsMode(this.kernel, { ...IPVS_DEFAULTS, ...options, kernelRelease: '6.1.0' }),
      rtnetlink,
      watchHost: async (changed) => {
        this.#hostChanged = changed;
        return { close: () => (this.#hostChanged = () => {}) };
      },
      nodeName: 'node-a',
      events: {
        synced: (summary) => this.passes.push(summary),
        problems: () => {},
        failed: (error) => this.failures.push(error),
        retrying: () => {},
      },
    });
  }

  async start(host: ReadonlySet<string>): Promise<void> {
    for (const name of ['eth0', 'eth1']) await this.kernel.rtnetlink.addLink(name, 'dummy');
    await this.hostIs(new Set(), host);
    await this.proxy.start();
    this.#source?.synced();
  }

  async hostIs(before: ReadonlySet<string>, now: ReadonlySet<string>): Promise<void> {
    const operation = (verb: 'addAddress' | 'deleteAddress') => (text: string) => {
      const [, link = '', address = '', prefix = ''] = /(\S+) (\S+)\/(\d+)/.exec(text) ?? [];
      return { do: verb, address: { link, address, prefix: Number(prefix) } };
    };
    const results = await this.kernel.rtnetlink.apply([
      ...[...now].filter((text) => !before.has(text)).map(operation('addAddress')),
      ...[...before].filter((text) => !now.has(text)).map(operation('deleteAddress')),
    ]);
    assert.deepEqual(results.filter(Boolean), []);
  }

  objectsAre(objects: ReadonlyMap<string, KubernetesObject>): void {
    for (const [identity, object] of this.#objects) {
      if (!objects.has(identity)) this.#source?.changed([{ type: 'delete', object }]);
    }
    for (const [identity, object] of objects) {
      if (this.#objects.get(identity) !== object) this.#source?.changed([{ type: 'set', object }]);
    }
    this.#objects = new Map(objects);
  }

  async settle(): Promise<void> {
    for (let quiet = 0, seen = this.passes.length; quiet < QUIET; quiet++) {
      await turn();
      if (this.passes.length !== seen) quiet = 0;
      seen = this.passes.length;
    }
  }

  state() {
    const { ipvs, ipset, iptables, rtnetlink } = this.kernel;
    const parts = [ipvs.dump(), ipset.dump().replaceAll(/ (hashsize|maxelem) \d+/g, '')];
    const texts = [...parts, rtnetlink.dump('kube-ipvs0'), iptables.dump(4), iptables.dump(6)];
    return texts.map((text) => text.split('\n').sort());
  }
}

/** A Service whose endpoints all have zone hints: only then are hints followed. */
const HINTED = [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'demo', name: 'hinted' },
    spec: { clusterIP: '10.96.1.1', ports: [{ port: 80 }] },
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'demo', name: 'hinted', labels: { 'kubernetes.io/service-name': 'hinted' } },
    addressType: 'IPv4',
    ports: [{ port: 8080 }],
    endpoints: ['a', 'b'].map((zone, i) => ({
      addresses: [`10.244.1.${i}`],
      hints: { forZones: [{ name: `zone-${zone}` }] },
    })),
  },
].flatMap((raw) => decodeObject(raw).object ?? []);

/** Objects of a random cluster, with other nodes, and a node with a pod network. */
function objectsOf(cluster: RandomCluster, pick: <T>(values: readonly T[]) => T) {
  const objects = new Map([
    ...cluster.objects,
    ...HINTED.map((object): [string, KubernetesObject] => [`hinted ${object.kind}`, object]),
  ]);
  const zone = pick(['zone-a', 'zone-b']);
  const nodes = [
    ['node-a', pick(['192.168.50.10', '192.168.50.99']), pick([[], ['10.244.0.0/24'], ['10.244.7.0/24']])],
    ['node-b', pick(['192.0.2.1', '192.168.50.20', '2001:db8::1']), []],
  ] as const;
  for (const [name, address, podCIDRs] of nodes) {
    if (pick([true, false, false])) continue;
    const { object } = decodeObject({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } },
      spec: { podCIDRs },
      status: { addresses: [{ type: 'InternalIP', address }] },
    });
    if (object) objects.set(`node ${name}`, object);
  }
  for (const [identity, object] of objects) {
    if (object.kind === 'Node' && !identity.startsWith('node ')) objects.delete(identity);
  }
  return objects;
}

it(`${SEEDS} random nodes, ${STEPS} changes each`, async () => {
  let partly = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = randomFrom(seed);
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
    const options = {
      nodePortAddresses: pick(NODE_PORT_ADDRESSES),
      cures: new Set(CURES.filter(() => random() < 0.5)),
      localDetector: { by: 'nodeNetwork' } as const,
    };
    const cluster = new RandomCluster(seed);
    let host = new Set<string>(['eth0 192.168.50.10/24']);
    const node = new Node(options);
    await node.start(host);
    for (let step = 0; step < STEPS; step++) {
      if (random() < 0.4) cluster.change();
      if (random() < 0.6) node.objectsAre(objectsOf(cluster, pick));
      const before = host;
      host = new Set(ADDRESSES.filter((text) => (random() < 0.3 ? !before.has(text) : before.has(text))));
      await node.hostIs(before, host);
      if (random() < 0.7) await node.settle();
    }
    let last = objectsOf(cluster, pick);
    // A deleted Node keeps its addresses, which a fresh start does not know.
    while (!last.has('node node-a')) last = objectsOf(cluster, pick);
    node.objectsAre(last);
    await node.settle();
    partly += node.passes.filter(({ full }) => !full).length;
    await node.proxy.stop();
    const fresh = new Node(options);
    await fresh.start(host);
    fresh.objectsAre(last);
    await fresh.settle();
    await fresh.proxy.stop();
    assert.deepEqual(node.failures, []);
    assert.deepEqual(node.state(), fresh.state(), `seed ${seed}`);
  }
  assert.ok(partly > SEEDS * 4, `only ${partly} passes without a look at the kernel`);
});
