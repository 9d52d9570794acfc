import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { NetlinkError } from '../../../src/errors.js';
import type { SyncSummary } from '../../../src/reconcile/reconciler.js';
import { type Passes, RETRY, Runner } from '../../../src/reconcile/runner.js';

const summary = (failures: number, full = false): SyncSummary => ({
  full,
  services: 0,
  operations: failures,
  phases: new Map(),
  failures: Array.from({ length: failures }, (_, i) => ({
    key: `${i}`,
    error: new NetlinkError({ code: 'ENOMEM', operation: 'test.fail' }),
  })),
  contested: [],
  again: undefined,
  milliseconds: { plan: 0, kernel: 0 },
});

/** A runner over scripted passes, with timers that fire when told to. */
function setUp(results: (SyncSummary | Error)[]) {
  const told: string[] = [];
  let timer: { run: () => void; milliseconds: number } | undefined;
  const passes = {
    pending: false as boolean,
    distrust() {
      told.push('distrust');
    },
    async sync() {
      passes.pending = false;
      told.push('sync');
      await turn();
      const result = results.shift() ?? summary(0);
      if (result instanceof Error) throw result;
      return result;
    },
  } satisfies Passes;
  const runner = new Runner(
    passes,
    {
      synced: () => {},
      failed: () => told.push('failed'),
      retrying: (milliseconds) => told.push(`retry in ${milliseconds}`),
    },
    {
      set: (run, milliseconds) => {
        timer = { run, milliseconds };
        return timer;
      },
      clear: () => {
        timer = undefined;
      },
    },
  );
  const settle = async () => {
    for (let i = 0; i < 10; i++) await turn();
    return told.splice(0);
  };
  const fire = () => {
    const due = timer;
    timer = undefined;
    assert.ok(due, 'no timer is set');
    due.run();
  };
  return { runner, passes, settle, fire, armed: () => timer !== undefined };
}

describe('Runner', () => {
  it('makes one pass for many requests, and another for what comes meanwhile', async () => {
    const { runner, passes, settle } = setUp([]);
    runner.request();
    runner.request();
    runner.request();
    assert.deepEqual(await settle(), ['sync']);
    runner.request();
    await turn();
    passes.pending = true;
    runner.request();
    assert.deepEqual(await settle(), ['sync', 'sync']);
  });

  it('retries failures with a full pass, ever later, and goes back to the first delay after a success', async () => {
    const { runner, settle, fire } = setUp([summary(1), summary(1, true), summary(0, true), summary(1)]);
    runner.request();
    assert.deepEqual(await settle(), ['sync', `retry in ${RETRY.first}`]);
    fire();
    assert.deepEqual(await settle(), ['distrust', 'sync', `retry in ${2 * RETRY.first}`]);
    fire();
    assert.deepEqual(await settle(), ['distrust', 'sync']);
    runner.request();
    assert.deepEqual(await settle(), ['sync', `retry in ${RETRY.first}`]);
  });

  it('does not wait for a retry to take in changes', async () => {
    const { runner, settle, armed } = setUp([summary(1), summary(0)]);
    runner.request();
    await settle();
    runner.request();
    assert.deepEqual(await settle(), ['sync']);
    assert.ok(armed(), 'what failed is still due');
  });

  it('tries nothing until the retry when the kernel cannot be read', async () => {
    const { runner, settle, fire } = setUp([new Error('gone')]);
    runner.request();
    assert.deepEqual(await settle(), ['sync', 'failed', `retry in ${RETRY.first}`]);
    runner.request();
    assert.deepEqual(await settle(), []);
    fire();
    assert.deepEqual(await settle(), ['distrust', 'sync']);
  });

  it('waits no longer than the longest delay', async () => {
    const { runner, settle, fire } = setUp(Array.from({ length: 12 }, () => summary(1, true)));
    runner.request();
    const told: string[] = [];
    for (let i = 0; i < 11; i++) {
      told.push(...(await settle()));
      fire();
    }
    assert.ok(told.includes(`retry in ${RETRY.longest}`));
    assert.ok(!told.some((line) => Number(line.replace('retry in ', '')) > RETRY.longest));
  });

  it('stops: the pass under way ends, no other begins, no timer stays', async () => {
    const { runner, settle, armed } = setUp([summary(1)]);
    runner.request();
    await runner.stop();
    assert.deepEqual(await settle(), ['sync']);
    assert.ok(!armed());
    runner.request();
    assert.deepEqual(await settle(), []);
  });
});
