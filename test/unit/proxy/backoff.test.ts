// Delays after failures that follow one another.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Backoff, type BackoffBounds } from '../../../src/proxy/backoff.js';

const delays = (bounds: BackoffBounds, random: number) => {
  const backoff = new Backoff(bounds, () => random);
  return Array.from({ length: 7 }, () => backoff.next());
};

describe('a back-off', () => {
  it('doubles up to its longest delay', () => {
    const bounds = { first: 500, most: 30_000, spread: 0 };
    const expected = [500, 1000, 2000, 4000, 8000, 16_000, 30_000];
    for (const random of [0, 0.999]) assert.deepEqual(delays(bounds, random), expected);
  });

  it('adds a random share, and never exceeds its longest delay', () => {
    const bounds = { first: 800, most: 30_000, spread: 1 };
    assert.deepEqual(delays(bounds, 0), [800, 1600, 3200, 6400, 12_800, 15_000, 15_000]);
    assert.deepEqual(delays(bounds, 1), [1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
    assert.deepEqual(delays({ first: 1000, most: 3000, spread: 0.5 }, 1).slice(0, 3), [1500, 3000, 3000]);
  });

  it('begins again after a success', () => {
    const backoff = new Backoff({ first: 800, most: 30_000, spread: 1 }, () => 0);
    for (let i = 0; i < 5; i++) backoff.next();
    backoff.reset();
    assert.equal(backoff.next(), 800);
  });

  it('stays at its longest delay after any number of failures', () => {
    const backoff = new Backoff({ first: 1, most: 100, spread: 0 }, Math.random);
    for (let i = 0; i < 5000; i++) backoff.next();
    assert.equal(backoff.next(), 100);
  });
});
