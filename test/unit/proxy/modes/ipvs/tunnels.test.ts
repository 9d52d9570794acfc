// Services with `forwarding: tunnel` on a kernel in memory: what each node programs, what a change costs, and when NAT stays.
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { obstacleOfTunnels } from '../../../../../src/command/modes/ipvs/open.js';
import type { RtnetlinkOperation } from '../../../../../src/kernel/rtnetlink/types.js';
import { FakeKernel } from '../../../../../src/kernel/testing/index.js';
import { type Cure, createIpvsMode, IPVS_DEFAULTS } from '../../../../../src/proxy/modes/ipvs/index.js';
import { TUNNEL_SYSCTLS } from '../../../../../src/proxy/modes/ipvs/plan/tunnels.js';
import { decodeObject } from '../../../../../src/proxy/objects/decode.js';
import type { ObjectChange } from '../../../../../src/proxy/objects/types.js';
import { createProxy, type ServiceProxy } from '../../../../../src/proxy/proxy.js';
import type { SyncSummary } from '../../../../../src/proxy/reconcile/summary.js';
import type { SourceEvents } from '../../../../../src/proxy/source/source.js';
import { PATIENCE } from '../../../../laboratory/patience.js';
import { ALL_SETTINGS, annotations } from '../../../../support/settings/objects.js';

const running: ServiceProxy[] = [];
afterEach(async () => {
  for (const proxy of running.splice(0)) await proxy.stop();
});

const VIP = { 4: '203.0.113.1', 6: 'fd99::1' } as const;
const TUNNEL = { scheduler: 'mh', forwarding: 'tunnel' };

function objectOf(given: object): ObjectChange {
  const { object } = decodeObject(given);
  assert.ok(object);
  return { type: 'set', object };
}

function service(settings: Readonly<Record<string, string>>, spec: object = {}): ObjectChange {
  return objectOf({
    ...{ apiVersion: 'v1', kind: 'Service' },
    metadata: { namespace: 'demo', name: 'web', annotations: annotations(settings) },
    spec: {
      ...{ type: 'LoadBalancer', clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1', 'fd00:96::1'] },
      ...{ ipFamilies: ['IPv4', 'IPv6'], ports: [{ port: 80, nodePort: 30080 }] },
      ...spec,
    },
    status: { loadBalancer: { ingress: [{ ip: VIP[4] }, { ip: VIP[6] }] } },
  });
}

/** Endpoints `10.244.0.1@node-a`, all ready. */
function slice(...endpoints: readonly string[]): ObjectChange {
  const family = endpoints[0]?.includes(':') ? 6 : 4;
  return objectOf({
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: `IPv${family}` },
    metadata: {
      ...{ namespace: 'demo', name: `web-${family}` },
      labels: { 'kubernetes.io/service-name': 'web' },
    },
    ports: [{ port: 8080, protocol: 'TCP' }],
    endpoints: endpoints.map((text) => {
      const [address, nodeName, zone] = text.split('@');
      const hints = zone ? { hints: { forZones: [{ name: zone }] } } : {};
      return { addresses: [address], ...(nodeName && { nodeName }), conditions: { ready: true }, ...hints };
    }),
  });
}

const SLICES = [
  slice('10.244.0.1@node-a', '10.244.1.1@node-b'),
  slice('fd00:244::1@node-a', 'fd00:244:1::1@node-b'),
];

/** The devices of the modules. */
async function newKernel(): Promise<FakeKernel> {
  const kernel = new FakeKernel();
  await kernel.rtnetlink.setLink('lo', { up: true });
  for (const [name] of Object.values(TUNNEL_SYSCTLS)) kernel.sysctl.values.set(name, '0');
  // Links of a kind that the fake has: what they are is not looked at.
  for (const name of ['gre0', 'ip6gre0']) await kernel.rtnetlink.addLink(name, 'dummy');
  return kernel;
}

/** A proxy of node-a after its first pass. `change` returns the operations of the pass that it made. */
async function started(
  objects: readonly ObjectChange[],
  kernel: FakeKernel,
  cures: readonly Cure[] = ['node-failover'],
) {
  const passes: SyncSummary[] = [];
  let events: SourceEvents | undefined;
  const networks = { 4: '10.244.0.0/16', 6: 'fd00:244::/32' };
  const proxy = createProxy({
    source: {
      async start(given) {
        events = given;
        given.changed(objects);
        given.synced();
      },
      stop() {},
    },
    mode: createIpvsMode(kernel, {
      ...IPVS_DEFAULTS,
      ...{ auditPeriod: 60_000, kernelRelease: '6.1.0', cures: new Set(cures) },
      localDetector: { by: 'network', networks },
    }),
    rtnetlink: kernel.rtnetlink,
    conntrack: kernel.conntrack,
    watchHost: async () => ({ close() {} }),
    nodeName: 'node-a',
    settingRules: ALL_SETTINGS,
    events: {
      synced: (summary) => void passes.push(summary),
      problems() {},
      failed() {},
      retrying() {},
    },
  });
  running.push(proxy);
  const pass = async () => {
    const deadline = Date.now() + PATIENCE;
    while (passes.length === 0) {
      assert.ok(Date.now() < deadline, 'no pass was made');
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return passes.shift() as SyncSummary;
  };
  await proxy.start();
  const first = await pass();
  const change = async (...changes: readonly ObjectChange[]) => {
    passes.length = 0;
    events?.changed(changes);
    return pass();
  };
  return { proxy, first, change };
}

/** Forwarding of the real servers at an address, by endpoint. */
async function forwardingAt({ ipvs }: FakeKernel, address: string, port = 80): Promise<object> {
  const state = await ipvs.get({ address, port, protocol: 'tcp' });
  return Object.fromEntries(
    (state?.realServers ?? []).map(({ address, forwarding, encapsulation }) => [
      address,
      encapsulation ? `${forwarding} ${encapsulation.type}` : forwarding,
    ]),
  );
}

async function entries({ ipset }: FakeKernel, name: string): Promise<string[]> {
  return ((await ipset.get(name))?.entries ?? []).map(({ address }) => address ?? '').sort();
}

/** Devices that are up, rules and routes of tunnels. */
async function traces({ rtnetlink }: FakeKernel): Promise<string[]> {
  const rules = (await rtnetlink.listRules()).filter(({ priority }) => priority >= 4746 && priority <= 4747);
  const routes = await rtnetlink.listRoutes({ table: 4747 }).toArray();
  const links = (await rtnetlink.listLinks()).filter(({ name, up }) => name.endsWith('gre0') && up);
  return [
    ...rules.map(({ family, priority, inputLink = 'gre' }) => `rule ${family} ${priority} ${inputLink}`),
    ...routes.map(({ type, destination }) => `${type} ${destination}`),
    ...links.map(({ name, alias }) => `${name} ${alias}`),
  ].sort();
}

const RECEIVES = [
  ...['gre0 kube-netlink-proxy', 'ip6gre0 kube-netlink-proxy'],
  ...['local 10.244.0.1/32', 'local fd00:244::1/128'],
  ...['rule 4 4746 gre0', 'rule 4 4746 ip6gre0', 'rule 4 4747 gre'],
  ...['rule 6 4746 gre0', 'rule 6 4746 ip6gre0', 'rule 6 4747 gre'],
];

describe('forwarding: tunnel', () => {
  it('has tunnels to endpoints of other nodes, at load-balancer IPs only, and keeps the address of clients', async () => {
    const kernel = await newKernel();
    await started([service(TUNNEL), ...SLICES], kernel);
    const nat = { '10.244.0.1': 'masquerade', '10.244.1.1': 'masquerade' };
    assert.deepEqual(await forwardingAt(kernel, VIP[4]), { ...nat, '10.244.1.1': 'tunnel gre' });
    assert.deepEqual(await forwardingAt(kernel, VIP[6]), {
      'fd00:244::1': 'masquerade',
      'fd00:244:1::1': 'tunnel gre',
    });
    assert.deepEqual(await forwardingAt(kernel, '10.96.0.1'), nat);
    assert.deepEqual(await entries(kernel, 'KUBE-LOAD-BALANCER-LOCAL'), [VIP[4]]);
    assert.deepEqual(await entries(kernel, 'KUBE-6-LOAD-BALANCER-LOCAL'), [VIP[6]]);
    assert.deepEqual(await traces(kernel), RECEIVES);
    const rules = (await kernel.iptables.saveTables(6)).rules;
    assert.deepEqual(
      rules
        .get('nat/KUBE-SERVICES')
        ?.filter((rule) => rule.includes('DNAT') || rule.includes('LOCAL -j KUBE-M')),
      [
        '-d fd99::1/128 -p tcp -m tcp --dport 80 -m addrtype --src-type LOCAL -j KUBE-MARK-MASQ',
        '-d fd99::1/128 -p tcp -m tcp --dport 80 -m addrtype --src-type LOCAL -j DNAT --to-destination [fd00:96::1]:80',
        '-s fd00:244::/32 -d fd99::1/128 -p tcp -m tcp --dport 80 -j DNAT --to-destination [fd00:96::1]:80',
      ],
    );
    assert.ok(rules.get('filter/KUBE-IPVS-FILTER')?.includes('-i gre0 -j DROP'));
  });

  it('a change of one endpoint changes its own route and real servers', async () => {
    const kernel = await newKernel();
    const { change } = await started([service(TUNNEL), ...SLICES], kernel);
    const made: RtnetlinkOperation[] = [];
    kernel.rtnetlink.onBatch = ({ operations }) => made.push(...operations);
    await change(slice('10.244.0.1@node-a', '10.244.0.2@node-a', '10.244.1.1@node-b'));
    assert.deepEqual(
      made.map((operation) => [operation.do, 'route' in operation && operation.route.destination]),
      [['addRoute', '10.244.0.2']],
    );
    made.length = 0;
    await change(SLICES[0] as ObjectChange);
    assert.deepEqual(
      made.map((operation) => [operation.do, 'route' in operation && operation.route.destination]),
      [['deleteRoute', '10.244.0.2']],
    );
  });

  it('is found again, repaired, and removed with the setting, without what is of others', async () => {
    const kernel = await newKernel();
    await kernel.rtnetlink.addRule({ priority: 4746, to: '192.0.2.0/24', table: 4747 });
    await kernel.rtnetlink.addRoute({ destination: '192.0.2.0/24', type: 'unreachable', table: 4747 });
    const foreign = await traces(kernel);
    const { proxy } = await started([service(TUNNEL), ...SLICES], kernel);
    await proxy.stop();
    const again = await started([service(TUNNEL), ...SLICES], kernel);
    assert.equal(again.first.operations, 0);
    await again.proxy.stop();
    await kernel.rtnetlink.deleteRoute({ destination: '10.244.0.1', type: 'local', table: 4747, link: 'lo' });
    await kernel.rtnetlink.setLink('gre0', { up: false });
    const repaired = await started([service(TUNNEL), ...SLICES], kernel);
    assert.deepEqual(await traces(kernel), [...foreign, ...RECEIVES].sort());
    await repaired.change(service({ scheduler: 'mh' }));
    assert.deepEqual(await traces(kernel), foreign);
    assert.deepEqual(await entries(kernel, 'KUBE-LOAD-BALANCER-LOCAL'), []);
    assert.deepEqual(Object.values(await forwardingAt(kernel, VIP[4])), ['masquerade', 'masquerade']);
  });

  const kept: Readonly<Record<string, readonly [ObjectChange, ObjectChange, (readonly Cure[])?]>> = {
    'without node-failover': [service(TUNNEL), SLICES[0] as ObjectChange, []],
    'with an endpoint without a node': [service(TUNNEL), slice('10.244.0.1@node-a', '10.244.1.1')],
    'with topology hints': [service(TUNNEL), slice('10.244.0.1@node-a@z', '10.244.1.1@node-b@z')],
    'with source ranges': [
      service(TUNNEL, { loadBalancerSourceRanges: ['192.0.2.0/24', 'fd01::/64'] }),
      SLICES[0] as ObjectChange,
    ],
    'with internal policy Local': [
      service(TUNNEL, { internalTrafficPolicy: 'Local' }),
      SLICES[0] as ObjectChange,
    ],
  };
  for (const [name, [object, endpoints, cures]] of Object.entries(kept)) {
    it(`keeps NAT ${name}`, async () => {
      const kernel = await newKernel();
      await started([object, endpoints], kernel, cures);
      assert.ok(Object.values(await forwardingAt(kernel, VIP[4])).every((each) => each === 'masquerade'));
      assert.deepEqual(await traces(kernel), []);
      assert.deepEqual(await entries(kernel, 'KUBE-LOAD-BALANCER-LOCAL'), []);
    });
  }

  it('has NAT with another scheduler on a kernel without mh', async () => {
    const kernel = await newKernel();
    kernel.ipvs.schedulers.delete('mh');
    const { change } = await started([service({}), ...SLICES], kernel);
    await change(service(TUNNEL));
    await change(service(TUNNEL, { sessionAffinity: 'None' }));
    assert.deepEqual(Object.values(await forwardingAt(kernel, VIP[4])), ['masquerade', 'masquerade']);
  });
});

describe('tunnels on a node', () => {
  const options = {
    ...{ families: [4, 6] as const, cures: new Set<Cure>(['node-failover']) },
    localDetector: { by: 'nodeNetwork' } as const,
  };

  it('need --cures=node-failover, the networks of pods, and the devices', async () => {
    const kernel = await newKernel();
    const obstacle = (other: object, on = kernel) => obstacleOfTunnels(on, { ...options, ...other }, false);
    assert.equal(await obstacle({}), undefined);
    assert.match((await obstacle({ cures: new Set() })) ?? '', /node-failover/);
    const networks = { 4: '10.244.0.0/16' };
    assert.match((await obstacle({ localDetector: { by: 'network', networks } })) ?? '', /--cluster-cidr/);
    assert.equal(await obstacle({ families: [4], localDetector: { by: 'network', networks } }), undefined);
    assert.match((await obstacle({}, new FakeKernel())) ?? '', /no link gre0; .*ip_gre/);
  });
});
