// The time limit of a restore: it grows with the input, but no input may keep other changes back for hours.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { timeoutOf } from '../../../../src/kernel/iptables/restorer.js';

it('a restore has 10 s, 50 ms more for each 1000 bytes, and 5 min at most', () => {
  assert.equal(timeoutOf(0), 10_000);
  assert.equal(timeoutOf(1_000_000), 60_000);
  assert.equal(timeoutOf(200_000_000), 300_000);
});
