import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scaled, sumOf } from '../../../bench/cost.js';
import { median, medianRun, seededRandom, spread } from '../../../bench/statistics.js';

describe('the arithmetic of measurements', () => {
  it('has the least, the middle and the greatest value, and keeps the order of the runs', () => {
    assert.deepEqual(spread([5, 1, 3]), { min: 1, median: 3, max: 5, values: [5, 1, 3] });
    assert.deepEqual(spread([2]), { min: 2, median: 2, max: 2, values: [2] });
  });

  it('has the mean of the two middle values of an even number', () => {
    assert.equal(median([4, 1, 2, 9]), 3);
    // As numbers, not as text.
    assert.equal(median([9, 10, 100]), 10);
  });

  it('has no median of no values', () => {
    assert.throws(() => median([]), new RangeError('the median of no values'));
  });

  it('finds the run nearest to the median', () => {
    assert.equal(medianRun([100, 7, 1]), 1);
    assert.equal(medianRun([10, 1, 4, 5]), 2);
  });

  it('repeats the numbers of a seed, all from 0 to below 1', () => {
    const numbers = (seed: number) => {
      const random = seededRandom(seed);
      return Array.from({ length: 1000 }, random);
    };
    assert.deepEqual(numbers(1), numbers(1));
    assert.notDeepEqual(numbers(1), numbers(2));
    assert.ok(numbers(3).every((number) => number >= 0 && number < 1));
    const mean = numbers(4).reduce((sum, number) => sum + number, 0) / 1000;
    assert.ok(Math.abs(mean - 0.5) < 0.05, `${mean} is not near the middle`);
  });
});

describe('the cost of runs', () => {
  const cost = { wall: 10, user: 4, system: 2, children: 1, processes: 3 };

  it('is the sum of the costs of its parts', () => {
    assert.deepEqual(sumOf([cost, cost]), { wall: 20, user: 8, system: 4, children: 2, processes: 6 });
  });

  it('has messages only if all parts counted them', () => {
    assert.equal(
      sumOf([
        { ...cost, messages: 2 },
        { ...cost, messages: 5 },
      ]).messages,
      7,
    );
    assert.equal('messages' in sumOf([{ ...cost, messages: 2 }, cost]), false);
  });

  it('grows linearly with the operations; processes and messages are whole numbers', () => {
    assert.deepEqual(scaled({ ...cost, messages: 1 }, 2.5), {
      ...{ wall: 25, user: 10, system: 5, children: 2.5 },
      ...{ processes: 8, messages: 3 },
    });
  });
});
