// Rules of a Service in KUBE-SERVICES that match the same packets: their order is that of kube-proxy, whatever changed before.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { edit } from '../../../../support/fakes/tamperRules.js';
import { FakeIptablesNode } from '../../../../support/oracle/testNode.js';

const HOST = {
  configuration: { clusterCIDR: '10.244.0.0/16' },
  interfaces: [{ link: 'eth0', address: '192.168.10.5', prefix: 24 }],
};

const ADDRESS = '203.0.113.1';
const OTHER = '203.0.113.2';

/** The fields of a Service that decide about its rules. */
interface Fields {
  readonly clusterIP?: string;
  readonly external?: readonly string[];
  readonly loadBalancer?: readonly string[];
  readonly ranges?: readonly string[];
}

function service(name: string, fields: Fields): object[] {
  const { clusterIP = '10.96.0.1', external = [], loadBalancer = [], ranges = [] } = fields;
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'demo', name },
      spec: {
        type: 'LoadBalancer',
        clusterIP,
        ports: [{ port: 80 }],
        externalIPs: external,
        loadBalancerSourceRanges: ranges,
      },
      status: { loadBalancer: { ingress: loadBalancer.map((ip) => ({ ip })) } },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { namespace: 'demo', name, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ port: 80 }],
      endpoints: [{ addresses: ['10.244.2.9'], conditions: { ready: true } }],
    },
  ];
}

/** Gives the node only these Services, and returns the number of operations. */
async function set(node: FakeIptablesNode, ...objects: object[][]): Promise<number> {
  await node.loadText(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects.flat() }));
  const { operations, failures } = await node.sync();
  assert.deepEqual(failures, []);
  return operations;
}

/** The rules for an address in KUBE-SERVICES, in order, each as its kind and the kind of the chain to which it jumps. */
function ruleOrder(node: FakeIptablesNode, address = ADDRESS): string[] {
  return node.kernel.iptables
    .dump(4)
    .split('\n')
    .flatMap((line) => {
      if (!line.startsWith(`-A KUBE-SERVICES -d ${address}/32 `) || line.endsWith('-j REJECT')) return [];
      const [, kind, chain] = / (\w+) IP" .* -j KUBE-(\w+)-/.exec(line) ?? [];
      return [`${kind} ${chain}`];
    });
}

const RANGES = ['198.18.0.0/15'];

/** Fields, and the rules for the address as kube-proxy writes them. */
const STATES: readonly (readonly [name: string, fields: Fields, rules: readonly string[]])[] = [
  ['nothing', {}, []],
  ['an external IP', { external: [ADDRESS] }, ['external EXT']],
  ['a load-balancer IP', { loadBalancer: [ADDRESS] }, ['loadbalancer EXT']],
  ['a load-balancer IP with ranges', { loadBalancer: [ADDRESS], ranges: RANGES }, ['loadbalancer FW']],
  ['both', { external: [ADDRESS], loadBalancer: [ADDRESS] }, ['external EXT', 'loadbalancer EXT']],
  [
    'both with ranges',
    { external: [ADDRESS], loadBalancer: [ADDRESS], ranges: RANGES },
    ['external EXT', 'loadbalancer FW'],
  ],
  [
    'both and another address, in another order',
    { external: [OTHER, ADDRESS], loadBalancer: [ADDRESS, OTHER], ranges: RANGES },
    ['external EXT', 'loadbalancer FW'],
  ],
  [
    'each twice',
    { external: [ADDRESS, ADDRESS], loadBalancer: [ADDRESS, ADDRESS], ranges: RANGES },
    ['external EXT', 'external EXT', 'loadbalancer FW', 'loadbalancer FW'],
  ],
  [
    'the cluster IP too',
    { clusterIP: ADDRESS, external: [ADDRESS], loadBalancer: [ADDRESS], ranges: RANGES },
    ['cluster SVC', 'external EXT', 'loadbalancer FW'],
  ],
];

describe('the order of rules of one address, after each change from one state to another', () => {
  for (const [name, fields, rules] of STATES) {
    it(`to ${name}`, async () => {
      for (const [from, before] of STATES) {
        const node = new FakeIptablesNode(HOST);
        await set(node, service('web', before));
        await set(node, service('web', fields));
        assert.deepEqual(ruleOrder(node), rules, `from ${from}`);
        node.reconciler.requestFullSync();
        assert.equal((await node.sync()).operations, 0, `from ${from}: a full pass`);
        const restarted = new FakeIptablesNode(HOST, node.kernel);
        assert.equal(await set(restarted, service('web', fields)), 0, `from ${from}: a restart`);
      }
    });
  }
});

it('a load-balancer IP that is added changes only the rules of its address', async () => {
  const node = new FakeIptablesNode(HOST);
  await set(node, service('web', { external: [ADDRESS], ranges: RANGES }));
  // The rules of the address, the chain of the ranges, and the rule that drops other clients.
  assert.equal(
    await set(node, service('web', { external: [ADDRESS], loadBalancer: [ADDRESS], ranges: RANGES })),
    3,
  );
});

it('another order that a program made is repaired by one operation', async () => {
  const node = new FakeIptablesNode(HOST);
  await set(node, service('web', { external: [ADDRESS], loadBalancer: [ADDRESS], ranges: RANGES }));
  const text = node.kernel.iptables.dump(4);
  const first = text.split('\n').find((line) => line.includes('external IP')) ?? '';
  const repeated: Readonly<Record<string, (line: string) => readonly string[]>> = {
    reversed: (line) =>
      line === first ? [] : line.includes('"demo/web loadbalancer IP" -m tcp') ? [line, first] : [line],
    'reversed and repeated': (line) =>
      line.includes('"demo/web loadbalancer IP" -m tcp') ? [line, line, first] : [line],
  };
  for (const [name, change] of Object.entries(repeated)) {
    edit(node.kernel.iptables, 4, change);
    for (let round = 0; round < 2; round++) {
      node.reconciler.startAudit();
      while (node.reconciler.auditing)
        assert.deepEqual((await node.reconciler.auditSlice())?.failures ?? [], []);
    }
    assert.deepEqual(ruleOrder(node), ['external EXT', 'loadbalancer FW'], name);
    node.reconciler.requestFullSync();
    assert.equal((await node.sync()).operations, 0, name);
  }
});

it('an address that another Service takes over', async () => {
  const node = new FakeIptablesNode(HOST);
  const both = { external: [ADDRESS], loadBalancer: [ADDRESS], ranges: RANGES };
  await set(node, service('web', both));
  const next = service('next', { ...both, clusterIP: '10.96.0.2' });
  await set(node, service('web', {}), next);
  assert.deepEqual(ruleOrder(node), ['external EXT', 'loadbalancer FW']);
  assert.doesNotMatch(node.kernel.iptables.dump(4), new RegExp(`"demo/web .*${ADDRESS}`));
  node.reconciler.requestFullSync();
  assert.equal((await node.sync()).operations, 0);
});
