// The changes of an agent's own Node object.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { followOwnNode } from '../../../src/agent/ownNode.js';
import { decodeObject } from '../../../src/objects/decode.js';
import type { ObjectChange } from '../../../src/objects/types.js';

function node(name: string, spec: object, metadata: object = {}): ObjectChange {
  const { object } = decodeObject({ apiVersion: 'v1', kind: 'Node', metadata: { name, ...metadata }, spec });
  assert.ok(object);
  return { type: 'set', object };
}

function setUp(known: readonly string[]) {
  const told: string[] = [];
  const follow = followOwnNode('node-a', known, {
    eligible: (eligible) => told.push(eligible ? 'eligible' : 'not eligible'),
    podCIDRsChanged: (before, now) => told.push(`${before} → ${now}`),
  });
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

it('the removal of the object is ignored', () => {
  const { told, follow } = setUp([]);
  follow([{ ...node('node-a', {}), type: 'delete' }]);
  assert.deepEqual(told, []);
});

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
