import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Node } from '../../../src/objects/types.js';
import { NodeState } from '../../../src/reconcile/nodeState.js';

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
