import assert from 'node:assert/strict';
import { it } from 'node:test';
import { inOrder } from '../../../../src/command/agent/listeners.js';

it('an event goes to all listeners that name it, in their order, with its arguments', () => {
  const told: string[] = [];
  const events = inOrder([
    { retrying: (after) => told.push(`one ${after}`), queued: () => told.push('one') },
    { failed: () => told.push('two') },
    { retrying: (after) => told.push(`three ${after}`) },
  ]);
  events.retrying(5);
  events.queued?.();
  assert.deepEqual(told, ['one 5', 'three 5', 'one']);
});

it('an event that no listener names stays undefined, except those that every proxy reports', () => {
  const events = inOrder([{ queued() {} }]);
  assert.deepEqual(Object.keys(events).sort(), ['failed', 'problems', 'queued', 'retrying', 'synced']);
});
