import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RETRY, Retries } from '../../../../src/proxy/reconcile/retries.js';

/** The times from failure to failure of a key that fails whenever it is tried, in ms. */
function delays(retries: Retries, key: string, start: number, count: number): number[] {
  const found: number[] = [];
  let now = start;
  retries.failed(key, now);
  for (let i = 0; i < count; i++) {
    const due = retries.next ?? assert.fail('it does not wait');
    assert.deepEqual(retries.due(due - 1), []);
    assert.deepEqual(retries.due(due), [key]);
    found.push(due - now);
    now = due;
    retries.tries(key);
    retries.failed(key, now);
    retries.settle();
  }
  return found;
}

describe('Retries', () => {
  it('doubles the delay of a key with each failure, up to the longest, and lengthens it by a fifth at most', () => {
    for (const start of [0, 137, 9999]) {
      const found = delays(new Retries(), 'a', start, 9);
      for (const [i, shortest] of [500, 1000, 2000, 4000, 8000, 16_000, 25_000, 25_000, 25_000].entries()) {
        const delay = found[i] ?? Number.NaN;
        assert.ok(delay >= shortest && delay <= 1.2 * shortest, `${found}`);
      }
    }
  });

  it('makes keys that failed at nearly the same time due together', () => {
    const retries = new Retries();
    for (let i = 0; i < 50; i++) delays(retries, `${i}`, 1_000_000 + 37 * i, 0);
    const first = retries.next ?? assert.fail('none waits');
    // Every 37 ms one has failed, and the first delay has steps of 100 ms.
    assert.equal(retries.due(first + 100).length, 3);
    assert.deepEqual(retries.due(first + 199), retries.due(first + 100));
  });

  it('gives each key its own delay', () => {
    const retries = new Retries();
    delays(retries, 'refused', 0, 20);
    const now = 1_000_000;
    retries.failed('once', now);
    assert.equal(retries.due(now + RETRY.first).includes('once'), true);
  });

  it('forgets the failures of a key that was tried and did not fail', () => {
    const retries = new Retries();
    delays(retries, 'a', 0, 5);
    retries.tries('a');
    retries.settle();
    assert.equal(retries.next, undefined);
    retries.failed('a', 0);
    assert.equal(retries.next, RETRY.first);
  });

  it('makes a key that changed due at once, and forgets its failures', () => {
    const retries = new Retries();
    delays(retries, 'a', 0, 5);
    retries.changed('a', 7);
    retries.changed('unknown', 7);
    assert.deepEqual(retries.due(7), ['a']);
    retries.tries('a');
    retries.failed('a', 1000);
    assert.equal(retries.next, 1000 + RETRY.first);
  });

  it('does not count a failure of a key that waits', () => {
    const retries = new Retries();
    retries.failed('a', 0);
    retries.failed('a', 400);
    assert.equal(retries.next, RETRY.first);
  });

  it('retries together what fails at nearly the same time', () => {
    const retries = new Retries();
    // From 100 ms on, the next multiple would be 700 ms.
    for (let i = 0; i < 100; i++) retries.failed(`${i}`, 50.5 + i);
    assert.equal(retries.next, 600);
    assert.equal(retries.due(600).length, 100);
  });
});
