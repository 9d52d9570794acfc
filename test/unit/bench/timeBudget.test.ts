// The time budget of the benchmark: which runs of a figure are left out.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TimeBudget } from '../../../bench/timeBudget.js';
import type { Step } from '../../../bench/types.js';
import { weightOf } from '../../../bench/weights.js';

const OPTIONS = { repetitions: 5, budget: 10 };

describe('the time budget', () => {
  it('permits runs until the next one would exceed it', () => {
    const budget = new TimeBudget(OPTIONS);
    const permitted = [0, 1, 2, 3, 4, 5].map((repetition) => {
      const allowed = budget.allows(job(repetition));
      if (allowed) budget.spend(job(repetition), 3000);
      return allowed;
    });
    assert.deepEqual(permitted, [true, true, true, false, false, false]);
  });

  it('permits the first run of every figure, and the run that counts system calls', () => {
    const budget = new TimeBudget(OPTIONS);
    budget.spend(job(0), 60_000);
    assert.deepEqual(
      [1, 2, 6].map((repetition) => budget.allows(job(repetition))),
      [true, false, true],
    );
  });

  it('is separate for each size and each method', () => {
    const budget = new TimeBudget(OPTIONS);
    budget.spend(job(1), 60_000);
    assert.equal(budget.allows(job(2)), false);
    assert.equal(budget.allows(job(2, { size: { services: 20, endpoints: 10 } })), true);
    assert.equal(budget.allows(job(2, { method: 'raw' })), true);
  });
});

describe('the expected time of a step', () => {
  const options = {
    ...OPTIONS,
    sample: 50,
    seed: 1,
    countSystemCalls: false,
    sizes: [],
    scenarios: [],
    methods: [],
  };

  it('is 0 from the run on for which the budget leaves no time', () => {
    const [large, small] = [10_000, 10].map((services) =>
      [1, 2, 5].map((repetition) =>
        weightOf(stepOf(repetition, { size: { services, endpoints: 10 }, method: 'single' }), options),
      ),
    );
    assert.ok((large?.[0] ?? 0) > 5e6, `${large}`);
    assert.deepEqual(large?.slice(1), [0, 0]);
    assert.ok(
      small?.every((weight) => weight > 0 && weight === small[0]),
      `${small}`,
    );
  });
});

function stepOf(repetition: number, more: Partial<Step> = {}): Step {
  return { scenario: 'full', method: 'ours', size: { services: 10, endpoints: 10 }, repetition, ...more };
}

function job(repetition: number, more: Partial<Step> = {}) {
  return { steps: [stepOf(repetition, more)] };
}
