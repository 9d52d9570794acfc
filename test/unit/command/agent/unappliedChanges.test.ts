// The arrival of the oldest change that is not completely in the kernel.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { UnappliedChanges } from '../../../../src/command/agent/telemetry.js';

function setUp() {
  const clock = { time: 100 };
  return { clock, changes: new UnappliedChanges(() => clock.time) };
}

it('a change is applied when a pass that read it has ended', () => {
  const { clock, changes } = setUp();
  assert.equal(changes.oldest, undefined);
  changes.queued();
  clock.time = 200;
  changes.queued();
  assert.equal(changes.oldest, 100, 'that of the first');
  changes.taken();
  assert.equal(changes.oldest, 100);
  changes.synced(0);
  assert.equal(changes.oldest, undefined);
});

it('a change that arrives during a pass waits for the next', () => {
  const { clock, changes } = setUp();
  changes.queued();
  changes.taken();
  clock.time = 200;
  changes.queued();
  assert.equal(changes.oldest, 100);
  changes.synced(0);
  assert.equal(changes.oldest, 200);
});

it('a change of which an item fails stays, also while others are applied, until no item is unknown', () => {
  const { clock, changes } = setUp();
  changes.queued();
  changes.taken();
  changes.synced(1);
  clock.time = 200;
  changes.queued();
  changes.taken();
  changes.synced(1);
  assert.equal(changes.oldest, 100);
  changes.taken();
  changes.synced(0);
  assert.equal(changes.oldest, undefined);
});

it('a pass that ends without a summary leaves the changes that it read', () => {
  const { clock, changes } = setUp();
  changes.queued();
  changes.taken();
  clock.time = 200;
  changes.taken();
  assert.equal(changes.oldest, 100);
});

it('an item that fails in an audit, without a change, counts from the end of the audit', () => {
  const { clock, changes } = setUp();
  clock.time = 300;
  changes.synced(2);
  clock.time = 400;
  changes.synced(1);
  assert.equal(changes.oldest, 300);
});
