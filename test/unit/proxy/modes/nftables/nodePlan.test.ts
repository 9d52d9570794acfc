// The items of the node that no recording shows.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Plan } from '../../../../../src/proxy/modes/mode.js';
import type { ChainItem, Item } from '../../../../../src/proxy/modes/nftables/plan/items.js';
import {
  NFTABLES_DEFAULTS,
  type NftablesOptions,
} from '../../../../../src/proxy/modes/nftables/plan/options.js';
import { planNode } from '../../../../../src/proxy/modes/nftables/plan/planNode.js';
import { ruleText } from '../../../../../src/proxy/modes/nftables/program/ruleText.js';
import { type NodeParts, nodeFacts } from '../../../../../src/proxy/services/nodeFacts.js';

function planOf(options: Partial<NftablesOptions>, parts: NodeParts = {}): Plan<Item> {
  return planNode({ groups: () => [] }, nodeFacts('node-a', parts), { ...NFTABLES_DEFAULTS, ...options });
}

function rulesIn(plan: Plan<Item>, chain: string): string[] {
  return (plan.get(`chain ip kube-proxy ${chain}`) as ChainItem).rules.map((rule) => ruleText(4, rule));
}

const detectedBy = (network: string) =>
  ({ localDetector: { by: 'network', networks: { 4: network } } }) as const;

it('without a family, nothing in it', () => {
  const keys = [...planOf({ families: [6] }).keys()];
  assert.deepEqual(
    keys.filter((key) => / ip /.test(key)),
    [],
  );
  assert.ok(keys.includes('table ip6 kube-proxy'));
});

it('if all traffic is local, none to cluster IPs is masqueraded', () => {
  assert.equal(rulesIn(planOf(detectedBy('0.0.0.0/0')), 'services').length, 2);
  assert.match(
    rulesIn(planOf(detectedBy('10.244.0.0/15')), 'services')[0] ?? '',
    /@cluster-ips ip saddr != 10\.244\.0\.0\/15 meta mark/,
  );
});

it('interfaces by prefix', () => {
  const [first] = rulesIn(planOf({ localDetector: { by: 'interface', match: 'veth+' } }), 'services');
  assert.match(first ?? '', /@cluster-ips iifname != "veth\*" meta mark/);
});

it('the network of the pods of this node', () => {
  const node = {
    kind: 'Node',
    name: 'node-a',
    zone: '',
    addresses: [],
    podCIDRs: ['fd00::/64', '10.1.2.0/24'],
  };
  const parts = { node: node as unknown as NonNullable<NodeParts['node']> };
  const [first] = rulesIn(planOf({ localDetector: { by: 'nodeNetwork' } }, parts), 'services');
  assert.match(first ?? '', /ip saddr != 10\.1\.2\.0\/24/);
});

it('networks of ServiceCIDRs: none, one, several, and one with all addresses, which has not only Services', () => {
  const check = (serviceCIDRs: readonly string[]) =>
    rulesIn(planOf({}, { serviceCIDRs }), 'cluster-ips-check').slice(1);
  const drop = 'drop comment "Drop traffic to unallocated ClusterIPs"';
  assert.deepEqual(check([]), []);
  assert.deepEqual(check(['fd00::/64']), []);
  assert.deepEqual(check(['0.0.0.0/0', '10.96.0.0/12']), [`ip daddr 10.96.0.0/12 ${drop}`]);
  assert.deepEqual(check(['10.0.0.0/24', '10.0.1.0/24']), [`ip daddr { 10.0.0.0/23 } ${drop}`]);
});

it('node ports on all addresses: no set of addresses', () => {
  const plan = planOf({ nodePortAddresses: [] });
  assert.ok(!plan.has('set ip kube-proxy nodeport-ips'));
  const host = {
    nodePortAddresses: { 4: ['10.0.0.1'], 6: [] },
    unrestricted: new Set<4 | 6>(),
    addresses: new Set<string>(),
  };
  const limited = planOf({}, { host: () => host });
  assert.ok(limited.has('set ip kube-proxy nodeport-ips'));
  assert.ok(limited.has('element ip kube-proxy nodeport-ips 10.0.0.1'));
});
