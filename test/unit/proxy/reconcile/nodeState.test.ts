import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nodePortHosts as iptablesHosts } from '../../../../src/proxy/modes/iptables/plan/host.js';
import { nodePortHosts as nftablesHosts } from '../../../../src/proxy/modes/nftables/plan/host.js';
import type { Node } from '../../../../src/proxy/objects/types.js';
import { NodeState } from '../../../../src/proxy/reconcile/nodeState.js';

const NODE: Node = {
  kind: 'Node',
  name: 'node-a',
  uid: 'a',
  zone: 'zone-a',
  addresses: ['192.0.2.5', '2001:db8::5'],
  podCIDRs: ['10.244.1.0/24'],
  deleting: false,
  eligible: true,
};

/** A mode that restricts node ports to the node IPs. */
const PRIMARY = {
  uses: () => true,
  facts: (_: unknown, nodeIPs: { readonly 4: string; readonly 6: string }) => ({
    nodePortAddresses: { 4: [nodeIPs[4]], 6: [nodeIPs[6]] },
    unrestricted: new Set<4 | 6>(),
    addresses: new Set<string>(),
  }),
};

it('a Node that is deleted and created again loses its zone, and keeps its addresses and pod networks', () => {
  const state = new NodeState(PRIMARY, 'node-a');
  const none = new Set<string>();
  const shown = () => {
    const { zone, nodeIPs, podCIDRs, host } = state.facts;
    return { zone, nodeIPs, podCIDRs, ports: host.nodePortAddresses };
  };
  const known = {
    nodeIPs: { 4: '192.0.2.5', 6: '2001:db8::5' },
    podCIDRs: ['10.244.1.0/24'],
    ports: { 4: ['192.0.2.5'], 6: ['2001:db8::5'] },
  };
  state.nodeChanged(undefined, none);
  assert.deepEqual(shown().nodeIPs, { 4: '127.0.0.1', 6: '::1' });
  state.nodeChanged(NODE, none);
  assert.deepEqual(shown(), { zone: 'zone-a', ...known });
  state.nodeChanged(undefined, none);
  assert.deepEqual(shown(), { zone: '', ...known });
  state.nodeChanged({ ...NODE, addresses: [], podCIDRs: [] }, none);
  assert.deepEqual(shown(), { zone: 'zone-a', ...known, podCIDRs: [] });
  state.nodeChanged({ ...NODE, addresses: ['192.0.2.9'] }, none);
  assert.deepEqual(shown().nodeIPs, { 4: '192.0.2.9', 6: '::1' });
  state.nodeChanged({ ...NODE, zone: 'zone-b' }, none);
  assert.deepEqual(shown(), { zone: 'zone-b', ...known });
});

it('the facts change with the ranges of cluster IPs, and only then', () => {
  const state = new NodeState(PRIMARY, 'node-a');
  const before = state.facts;
  assert.deepEqual(before.serviceCIDRs, []);
  state.serviceCIDRsChanged([]);
  assert.equal(state.facts, before);
  state.serviceCIDRsChanged(['10.96.0.0/12']);
  assert.deepEqual(state.facts.serviceCIDRs, ['10.96.0.0/12']);
  state.nodeChanged(NODE, new Set());
  assert.deepEqual(state.facts.serviceCIDRs, ['10.96.0.0/12']);
});

it('node ports are served on the addresses of the facts, or on all of the host', () => {
  const asked = ['192.0.2.5', '192.0.2.6', '192.0.2.7', '127.0.0.9', '2001:db8::6'];
  const served = (state: NodeState) => asked.filter((address) => state.servesNodePorts(address));
  const address = (at: string) => ({ link: 'eth0', address: at, prefix: 24 });
  const primary = new NodeState(PRIMARY, 'node-a');
  primary.nodeChanged(NODE, new Set());
  primary.hostListed([address('192.0.2.5'), address('192.0.2.6')]);
  assert.deepEqual(served(primary), ['192.0.2.5']);
  const options = { nodePortAddresses: [], localDetector: { by: 'network', networks: {} } } as const;
  for (const localhostNodePorts of [true, false]) {
    const state = new NodeState(iptablesHosts({ ...options, localhostNodePorts }), 'node-a');
    state.hostListed([address('192.0.2.5')]);
    state.hostChanged({
      lost: false,
      links: [],
      addresses: [
        { ...address('192.0.2.6'), deleted: false },
        { ...address('192.0.2.7'), deleted: false },
        { ...address('192.0.2.7'), deleted: true },
      ],
    });
    const loopback = localhostNodePorts ? ['127.0.0.9'] : [];
    assert.deepEqual(served(state), ['192.0.2.5', '192.0.2.6', ...loopback]);
  }
  const nftables = new NodeState(nftablesHosts(options), 'node-a');
  nftables.hostListed([address('192.0.2.6'), { link: 'lo', address: '127.0.0.9', prefix: 8 }]);
  assert.deepEqual(served(nftables), ['192.0.2.6']);
});
