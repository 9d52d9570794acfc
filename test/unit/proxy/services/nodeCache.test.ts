import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../../src/proxy/objects/types.js';
import { NodeCache } from '../../../../src/proxy/services/nodeCache.js';

const node = (name: string, ...addresses: string[]): Node => ({
  kind: 'Node',
  name,
  uid: name,
  zone: '',
  addresses,
  podCIDRs: [],
  deleting: false,
  eligible: true,
});

describe('the addresses of other Nodes', () => {
  it('do not include those of the named Node', () => {
    const nodes = new NodeCache();
    nodes.set(node('a', '192.0.2.1'), true);
    nodes.set(node('b', '192.0.2.2', '2001:db8::2'), true);
    assert.deepEqual([...nodes.addressesOfOthers('a')], ['192.0.2.2', '2001:db8::2']);
    assert.deepEqual([...nodes.addressesOfOthers('b')], ['192.0.2.1']);
  });

  it('are the same set until an address of another Node changes', () => {
    const nodes = new NodeCache();
    nodes.set(node('a', '192.0.2.1'), true);
    nodes.set(node('b', '192.0.2.2'), true);
    const before = nodes.addressesOfOthers('a');
    nodes.set({ ...node('b', '192.0.2.2'), zone: 'zone-b' }, true);
    nodes.set(node('a', '192.0.2.9'), true);
    assert.equal(nodes.addressesOfOthers('a'), before);
    nodes.set(node('b', '192.0.2.3'), true);
    assert.deepEqual([...nodes.addressesOfOthers('a')], ['192.0.2.3']);
    nodes.set(node('b', '192.0.2.3'), false);
    assert.deepEqual([...nodes.addressesOfOthers('a')], []);
  });
});
