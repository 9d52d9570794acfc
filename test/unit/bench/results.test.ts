import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Result, Results } from '../../../bench/results.js';
import { totalOf } from '../../../bench/systemCalls.js';
import type { Step } from '../../../bench/types.js';

const STEP: Step = {
  scenario: 'full',
  method: 'ours',
  size: { services: 10, endpoints: 2 },
  repetition: 1,
};

describe('results', () => {
  it('make a figure of all repetitions, with the warm-up apart', () => {
    const results = new Results();
    results.add({ ...STEP, repetition: 0 }, [result(99), result(98)]);
    for (const wall of [5, 1, 3])
      results.add(STEP, [{ ...result(wall), longestBlock: wall, firstService: wall / 2 }]);
    const [figure, ...others] = results.figures();
    assert.deepEqual(others, []);
    assert.equal(figure?.first, 99);
    assert.deepEqual(figure?.wall, { min: 1, median: 3, max: 5, values: [5, 1, 3] });
    assert.deepEqual(figure?.cpu.values, [11, 7, 9]);
    assert.deepEqual(figure?.cpuTime, { user: 3, system: 2, children: 4 });
    assert.equal(figure?.longestBlock, 3);
    assert.equal(figure?.firstService?.median, 1.5);
    assert.equal(figure?.operations, 20);
  });

  it('keep scenarios, methods and sizes apart', () => {
    const results = new Results();
    for (const step of [
      STEP,
      { ...STEP, method: 'raw' as const },
      { ...STEP, size: { services: 11, endpoints: 2 } },
    ]) {
      results.add(step, [result(1)]);
    }
    assert.equal(results.figures().length, 3);
  });

  it('make no figure of a warm-up alone', () => {
    const results = new Results();
    results.add({ ...STEP, repetition: 0 }, [result(1)]);
    assert.deepEqual(results.figures(), []);
  });

  it('know what is impossible for one method, and for all', () => {
    const results = new Results();
    results.unavailable({ scenario: 'full', method: 'ours', reason: 'no' });
    results.unavailable({ scenario: 'ipvs', reason: 'the kernel has no IPVS' });
    assert.equal(results.isUnavailable(STEP), true);
    assert.equal(results.isUnavailable({ ...STEP, method: 'raw' }), false);
    assert.equal(results.isUnavailable({ scenario: 'ipvs', method: 'raw' }), true);
    assert.equal(results.reasons.length, 2);
  });

  it('keep the first reason: later ones may follow from it', () => {
    const results = new Results();
    for (const reason of ['no answer within 5 s', 'the proxy has not started its source'])
      results.unavailable({ scenario: 'full', method: 'ours', reason });
    assert.deepEqual(results.reasons, [{ scenario: 'full', method: 'ours', reason: 'no answer within 5 s' }]);
  });

  it('have the system calls of the run in which they were counted', () => {
    const results = new Results();
    results.add(STEP, [result(1)]);
    results.addSystemCalls({ ...STEP, repetition: 6 }, 1234);
    assert.equal(results.figures()[0]?.systemCalls, 1234);
  });
});

describe('the summary of strace', () => {
  it('has the total of all calls', () => {
    const summary = [
      '    calls syscall',
      '--------- ----------------',
      '      120 sendto',
      '      120 recvmsg',
      '--------- ----------------',
      '      240 total',
      '',
    ];
    assert.equal(totalOf(summary.join('\n')), 240);
  });

  it('without a total is refused', () => {
    assert.throws(() => totalOf(''), new Error('the summary of strace has no total'));
  });
});

function result(wall: number): Result {
  return {
    cost: { wall, user: wall, system: 2, children: 4, processes: 0 },
    operations: 20,
    parentMemory: 1,
    peakMemory: 2,
  };
}
