// Node ports on loopback addresses.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loopbackServesNodePorts } from '../../../../../src/proxy/modes/iptables/plan/loopback.js';
import {
  IPTABLES_DEFAULTS,
  type IptablesOptions,
} from '../../../../../src/proxy/modes/iptables/plan/options.js';
import { planNode } from '../../../../../src/proxy/modes/iptables/plan/planNode.js';
import { nodeFacts } from '../../../../../src/proxy/services/nodeFacts.js';

type NodePortOptions = Pick<IptablesOptions, 'localhostNodePorts' | 'nodePortAddresses'>;

const KNOWN = { 4: '192.168.10.5', 6: 'fd00:10::5' } as const;
const ONLY_IPV6 = { 4: '127.0.0.1', 6: 'fd00:10::5' } as const;

/** Options and node IPs → whether IPv4 loopback addresses serve node ports. */
const CASES: readonly (readonly [
  nodePortAddresses: NodePortOptions['nodePortAddresses'],
  nodeIPs: typeof KNOWN | typeof ONLY_IPV6,
  serves: boolean,
])[] = [
  [[], KNOWN, true],
  [['0.0.0.0/0'], KNOWN, true],
  [['10.0.0.0/8', '0.0.0.0/0'], KNOWN, true],
  [['127.0.0.1/32'], KNOWN, true],
  [['96.0.0.0/3'], KNOWN, true],
  [['192.168.10.0/24'], KNOWN, false],
  [['fd00:10::/64'], KNOWN, true],
  ['primary', KNOWN, false],
  // Without a node IP of the family, `primary` restricts nothing.
  ['primary', ONLY_IPV6, true],
];

describe('node ports on loopback addresses', () => {
  for (const [nodePortAddresses, nodeIPs, serves] of CASES) {
    it(`${String(nodePortAddresses) || 'all'} with node IP ${nodeIPs[4]}: ${serves}`, () => {
      const options = { nodePortAddresses, localhostNodePorts: true };
      assert.equal(loopbackServesNodePorts(options, 4, nodeIPs), serves);
      assert.equal(loopbackServesNodePorts(options, 6, nodeIPs), false);
      assert.equal(loopbackServesNodePorts({ ...options, localhostNodePorts: false }, 4, nodeIPs), false);
    });
  }

  it('are excluded by primary while the node IPs are unknown', () => {
    const served = (nodePortAddresses: NodePortOptions['nodePortAddresses']) =>
      loopbackServesNodePorts({ nodePortAddresses, localhostNodePorts: true }, 4);
    assert.equal(served('primary'), false);
    assert.equal(served([]), true);
  });

  it('a node with IPv6 only has the setting and its protection, if node ports are served on its own addresses', () => {
    const node = nodeFacts('node-a', { bindAddress: ONLY_IPV6[6] });
    const keys = [...planNode(node, { ...IPTABLES_DEFAULTS, nodePortAddresses: 'primary' }).keys()];
    assert.ok(keys.includes('sysctl net/ipv4/conf/all/route_localnet'));
    assert.ok(keys.some((key) => key.includes('block incoming localnet connections')));
  });
});
