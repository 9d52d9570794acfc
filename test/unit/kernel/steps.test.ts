// A list put in order in steps: the order of sort(), in many portions.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { atOnce, sortedInSteps } from '../../../src/kernel/steps.js';

interface Entry {
  readonly rank: number;
  readonly place: number;
}

const byRank = (a: Entry, b: Entry) => a.rank - b.rank;

for (const count of [0, 1, 2, 1023, 1024, 1025, 2048, 5000, 40_000]) {
  it(`${count} elements have the order of sort(), and equal ones their own`, () => {
    const list = Array.from({ length: count }, (_, place) => ({ rank: (place * 7919) % 613, place }));
    const before = [...list];
    assert.deepEqual(atOnce(sortedInSteps(list, byRank)), [...list].sort(byRank));
    assert.deepEqual(list, before);
  });
}

it('takes steps that do not grow with the list', () => {
  const most = (count: number) => {
    let [compared, longest] = [0, 0];
    const list = Array.from({ length: count }, (_, place) => (place * 7919) % 104_729);
    const steps = sortedInSteps(list, (a, b) => {
      compared++;
      return a - b;
    });
    for (let done = false; !done; compared = 0) {
      done = steps.next().done === true;
      longest = Math.max(longest, compared);
    }
    return longest;
  };
  // To sort 1024 elements takes less than log2(1024) comparisons for each.
  for (const count of [4000, 64_000]) assert.ok(most(count) < 10 * 1024);
});
