// Computations in steps, one after another: at once where they are short, in time slices where they are not.
import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Steps } from '../../../src/kernel/steps.js';
import { StepQueue } from '../../../src/proxy/stepQueue.js';

/** Notes a name, with steps of a millisecond each before it. */
function* noting(log: string[], name: string, steps = 0): Steps<void> {
  for (let step = 0; step < steps; step++) {
    const end = performance.now() + 1;
    while (performance.now() < end);
    yield;
  }
  log.push(name);
}

function setUp() {
  const log: string[] = [];
  const queue = new StepQueue((error) => log.push(String(error)));
  return { log, queue };
}

describe('StepQueue', () => {
  it('runs a short computation at once', () => {
    const { log, queue } = setUp();
    queue.add(noting(log, 'a'));
    assert.deepEqual(log, ['a']);
  });

  it('lets other callbacks run during a long one, and keeps the order', async () => {
    const { log, queue } = setUp();
    queue.add(noting(log, 'long', 30));
    queue.add(noting(log, 'short'));
    assert.deepEqual(log, []);
    let turns = 0;
    while (log.length === 0) {
      await nextTurn();
      turns++;
    }
    await queue.idle();
    assert.deepEqual(log, ['long', 'short']);
    assert.ok(turns >= 3, `${turns} turns`);
    queue.add(noting(log, 'later'));
    assert.deepEqual(log, ['long', 'short', 'later']);
  });

  it('runs what a computation adds after it', () => {
    const { log, queue } = setUp();
    const outer = function* (): Steps<void> {
      queue.add(noting(log, 'inner'));
      log.push('outer');
      yield;
    };
    queue.add(outer());
    assert.deepEqual(log, ['outer', 'inner']);
  });

  it('reports an error, at once or later, and continues with the next', async () => {
    const { log, queue } = setUp();
    const failing = function* (steps: number): Steps<void> {
      yield* noting(log, 'before', steps);
      throw new Error('refused');
    };
    queue.add(failing(0));
    queue.add(noting(log, 'a'));
    queue.add(failing(10));
    queue.add(noting(log, 'b'));
    await queue.idle();
    assert.deepEqual(log, ['before', 'Error: refused', 'a', 'before', 'Error: refused', 'b']);
  });

  it('makes no further step after its end', async () => {
    const { log, queue } = setUp();
    queue.add(noting(log, 'long', 30));
    queue.close();
    queue.add(noting(log, 'short'));
    await queue.idle();
    assert.deepEqual(log, []);
  });
});
