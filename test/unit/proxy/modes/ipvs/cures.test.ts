// Bugs of kube-proxy that are reproduced by default, and the effects of their corrections.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeKernel } from '../../../../../src/kernel/testing/index.js';
import {
  type Cure,
  createIpvsMode,
  IPVS_DEFAULTS,
  type IpvsOptions,
} from '../../../../../src/proxy/modes/ipvs/index.js';
import { decodeObject } from '../../../../../src/proxy/objects/decode.js';
import { Reconciler } from '../../../../../src/proxy/reconcile/reconciler.js';
import { nodeFacts } from '../../../../../src/proxy/services/nodeFacts.js';
import { ServiceCache } from '../../../../../src/proxy/services/serviceCache.js';

const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'demo', name: 'web' },
  spec: {
    type: 'NodePort',
    clusterIP: '10.96.0.1',
    externalIPs: ['192.168.50.11'],
    externalTrafficPolicy: 'Local',
    internalTrafficPolicy: 'Local',
    ports: [{ port: 80, nodePort: 30080 }],
  },
};

const SLICE = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace: 'demo', name: 'web', labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  ports: [{ port: 8080 }],
  endpoints: Array.from({ length: 8 }, (_, i) => ({ addresses: [`10.244.2.${i}`], nodeName: 'node-b' })),
};

/** A kernel programmed with these corrections, on node-a by default. */
async function programmed(
  cures: Cure[],
  options: Partial<IpvsOptions> = {},
  name = 'node-a',
): Promise<FakeKernel> {
  const kernel = new FakeKernel();
  const all = { ...IPVS_DEFAULTS, kernelRelease: '6.1.0', ...options, cures: new Set(cures) };
  const cache = new ServiceCache();
  for (const raw of [SERVICE, SLICE]) {
    const { object } = decodeObject(raw);
    assert.ok(object);
    cache.apply({ type: 'set', object });
  }
  const addresses = [
    { link: 'eth0', address: '192.168.50.10' },
    { link: 'kube-ipvs0', address: '10.96.0.1' },
  ];
  const mode = createIpvsMode(kernel, all);
  const node = nodeFacts(name, {
    host: (nodeIPs) => mode.host.facts(addresses, nodeIPs),
    otherNodes: new Set(['192.168.50.11']),
  });
  const inputs = {
    totalEndpoints: () => ({ 4: 0, 6: 0 }),
    serviceNames: () => cache.serviceNames(),
    order: (services: Iterable<string>) => cache.order(services),
    planInput: (service: string) => cache.planInput(service, node),
    node: () => node,
    refresh: async () => {},
    taken: () => {},
  };
  const reconciler = new Reconciler(mode, inputs, () => 0);
  reconciler.touchAll();
  assert.deepEqual((await reconciler.sync()).failures, []);
  return kernel;
}

const servers = (kernel: FakeKernel, of: string) =>
  kernel.ipvs
    .dump()
    .split('\n')
    .filter((line) => line.startsWith(`-a -t ${of} `)).length;

describe('cure', () => {
  it('external-local: no remote endpoints with policy Local', async () => {
    assert.equal(servers(await programmed([]), '192.168.50.10:30080'), 8);
    const cured = await programmed(['external-local']);
    assert.equal(servers(cured, '192.168.50.10:30080'), 0);
    assert.equal(servers(cured, '10.96.0.1:80'), 8);
  });

  it('internal-local: no remote endpoints for the cluster IP with policy Local', async () => {
    const cured = await programmed(['internal-local']);
    assert.equal(servers(cured, '10.96.0.1:80'), 0);
    assert.equal(servers(cured, '192.168.50.10:30080'), 8);
  });

  it('other-nodes: an external IP that is an address of another node is not added to kube-ipvs0', async () => {
    const bound = /192\.168\.50\.11\/32/;
    assert.match((await programmed([])).rtnetlink.dump('kube-ipvs0'), bound);
    assert.doesNotMatch((await programmed(['other-nodes'])).rtnetlink.dump('kube-ipvs0'), bound);
  });

  it('node-ports-off-vips: no node ports on virtual IPs in networks of nodePortAddresses', async () => {
    const options = { nodePortAddresses: ['10.96.0.0/12'] };
    assert.match((await programmed([], options)).ipvs.dump(), /10\.96\.0\.1:30080/);
    const cured = await programmed(['node-ports-off-vips'], options);
    assert.doesNotMatch(cured.ipvs.dump(), /:30080/);
  });

  it('accept-node-ports: INPUT accepts node ports even if its policy is DROP', async () => {
    const rule = /-A KUBE-NODE-PORT -p tcp .*KUBE-NODE-PORT-TCP dst -j ACCEPT/;
    assert.doesNotMatch((await programmed([])).iptables.dump(4), rule);
    assert.match((await programmed(['accept-node-ports'])).iptables.dump(4), rule);
  });

  it('endpoint-order: every node has its own order, the same at each start', async () => {
    const order = async (node: string) => {
      const kernel = await programmed(['endpoint-order'], {}, node);
      const state = (await kernel.ipvs.list()).find((service) => 'address' in service && service.port === 80);
      return state?.realServers.map(({ address }) => address).join(' ');
    };
    assert.equal(await order('node-a'), await order('node-a'));
    assert.notEqual(await order('node-a'), await order('node-b'));
  });

  it('excluded-addresses: addresses in excludeCIDRs stay on kube-ipvs0', async () => {
    const stray = { link: 'kube-ipvs0', address: '203.0.113.99', prefix: 32 };
    for (const cures of [[], ['excluded-addresses']] as Cure[][]) {
      const kernel = await programmed(cures);
      await kernel.rtnetlink.apply([{ do: 'addAddress', address: stray }]);
      const options = {
        ...IPVS_DEFAULTS,
        kernelRelease: '6.1.0',
        excludeCIDRs: ['203.0.113.0/24'],
        cures: new Set(cures),
      };
      const mode = createIpvsMode(kernel, options);
      const inputs = {
        totalEndpoints: () => ({ 4: 0, 6: 0 }),
        serviceNames: () => [],
        order: () => ({ vital: [], others: [] }),
        planInput: (service: string) => new ServiceCache().planInput(service, nodeFacts('node-a')),
        node: () => nodeFacts('node-a'),
        refresh: async () => {},
        taken: () => {},
      };
      await new Reconciler(mode, inputs, () => 0).sync();
      assert.equal(kernel.rtnetlink.dump('kube-ipvs0').includes('203.0.113.99'), cures.length > 0);
    }
  });
});
