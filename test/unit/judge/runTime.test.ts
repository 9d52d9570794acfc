// The time in which a proxy could run.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RunTime } from '../../judge/core/runTime.js';

it('is the time itself without waits', () => {
  const time = new RunTime([]);
  assert.deepEqual([time.before(1000, 300), time.after(1000, 300)], [700, 1300]);
});

it('leaves out the waits between two times', () => {
  const time = new RunTime([
    { from: 1000, until: 1200, waited: 150 },
    { from: 1200, until: 1400, waited: 100 },
  ]);
  assert.deepEqual([time.after(900, 300), time.before(1450, 300)], [1450, 900]);
  assert.deepEqual([time.after(1400, 300), time.before(1000, 300)], [1700, 700]);
  // A bound that ends within the first wait: a quarter of its time counts.
  assert.deepEqual([time.after(900, 125), time.before(1100, 125)], [1100, 900]);
});

it('has no bound that ends while the proxy cannot run at all', () => {
  const time = new RunTime([{ from: 1000, until: 2000, waited: 1000 }]);
  assert.deepEqual([time.after(900, 200), time.before(2100, 200)], [2100, 900]);
});
