// The changes of an agent's own Node object.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { followOwnNode } from '../../../../src/command/agent/ownNode.js';
import { decodeObject } from '../../../../src/proxy/objects/decode.js';
import type { ObjectChange } from '../../../../src/proxy/objects/types.js';

function node(name: string, spec: object, metadata: object = {}, addresses: string[] = []): ObjectChange {
  const status = { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) };
  const { object } = decodeObject({
    ...{ apiVersion: 'v1', kind: 'Node', metadata: { name, ...metadata }, spec },
    status,
  });
  assert.ok(object);
  return { type: 'set', object };
}

function setUp(podCIDRs: readonly string[], addresses?: readonly string[]) {
  const told: string[] = [];
  const follow = followOwnNode(
    'node-a',
    { podCIDRs, addresses },
    {
      eligible: (eligible) => told.push(eligible ? 'eligible' : 'not eligible'),
      podCIDRsChanged: (before, now) => told.push(`${before} → ${now}`),
      nodeIPsChanged: (before, now) => told.push(`IPs ${before} → ${now}`),
      deleted: () => told.push('deleted'),
    },
  );
  return { told, follow };
}

it('eligibility for load balancers is reported for the own node only', () => {
  const { told, follow } = setUp([]);
  const taints = [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }];
  follow([node('node-b', { taints }), node('node-a', {})]);
  follow([node('node-a', { taints })]);
  follow([node('node-a', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })]);
  assert.deepEqual(told, ['eligible', 'not eligible', 'not eligible']);
});

it('the removal of the own object is reported, and changes no eligibility', () => {
  const { told, follow } = setUp([]);
  follow([{ ...node('node-b', {}), type: 'delete' }]);
  assert.deepEqual(told, []);
  follow([{ ...node('node-a', {}), type: 'delete' }]);
  assert.deepEqual(told, ['deleted']);
});

/** Addresses at the start; those of the Node afterwards, one list after another; what is reported. */
const ADDRESSES: readonly [start: string[] | undefined, later: string[][], told: string[]][] = [
  [['192.0.2.1'], [['192.0.2.1'], ['192.0.2.1', '192.0.2.9']], []],
  [['192.0.2.1'], [['192.0.2.9', '192.0.2.1']], ['IPs 192.0.2.1 → 192.0.2.9']],
  [['192.0.2.1'], [['192.0.2.1', 'fd00::1']], ['IPs 192.0.2.1 → 192.0.2.1,fd00::1']],
  [['192.0.2.1', 'fd00::1'], [['fd00::1', '192.0.2.1']], ['IPs 192.0.2.1,fd00::1 → fd00::1,192.0.2.1']],
  [[], [[], ['192.0.2.1'], ['192.0.2.1']], ['IPs  → 192.0.2.1']],
  [['192.0.2.1'], [[]], ['IPs 192.0.2.1 → ']],
  [undefined, [['192.0.2.1'], ['192.0.2.2']], []],
];

for (const [start, later, expected] of ADDRESSES) {
  it(`with the addresses ${start} at the start, then ${later.join(' then ')}, it reports ${expected}`, () => {
    const { told, follow } = setUp([], start);
    for (const addresses of later) follow([node('node-a', {}, {}, addresses)]);
    assert.deepEqual(
      told.filter((line) => line !== 'eligible'),
      expected,
    );
  });
}

it('the first podCIDRs are adopted, and changes are reported', () => {
  const { told, follow } = setUp([]);
  follow([node('node-a', { podCIDRs: ['10.244.1.0/24'] })]);
  follow([node('node-a', { podCIDRs: ['10.244.1.0/24'] })]);
  follow([node('node-a', { podCIDRs: ['10.244.9.0/24'] })]);
  assert.deepEqual(
    told.filter((line) => line !== 'eligible'),
    ['10.244.1.0/24 → 10.244.9.0/24'],
  );
});
