import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import { RETRY } from '../../../../src/proxy/reconcile/retries.js';
import { OVERDUE, type Passes, Runner } from '../../../../src/proxy/reconcile/runner.js';
import type { SyncSummary } from '../../../../src/proxy/reconcile/summary.js';
import { LONGEST_TIMER } from '../../../../src/proxy/timers.js';

const summary = (failures: number, full = false, unknown = failures): SyncSummary => ({
  full,
  services: 0,
  operations: failures,
  accepted: 0,
  repaired: 0,
  phases: new Map(),
  failures: Array.from({ length: failures }, (_, i) => ({
    key: `${i}`,
    error: new NetlinkError({ code: 'ENOMEM', operation: 'test.fail' }),
    vital: false,
  })),
  unknown,
  vitalUnknown: [],
  mostRefused: false,
  counts: {},
  again: undefined,
  milliseconds: { plan: 0, kernel: 0 },
});

/** Period of the audit in these tests, in ms. */
const AUDIT = 60_000;

/** A runner with scripted passes and manual timers. */
function setUp(results: (SyncSummary | Error)[], rest = 0, audit = AUDIT, restFactor?: number) {
  const told: string[] = [];
  const clock = { now: 0 };
  let slices = 3;
  let reported = 0;
  /** Of each call of `tidy`: the number of passes that had been reported. */
  const tidied: number[] = [];
  const timers = new Map<object, { run: () => void; milliseconds: number }>();
  const passes = {
    pending: false as boolean,
    auditing: false as boolean,
    retryIn: undefined as number | undefined,
    retryFailed() {
      told.push('retry failed');
    },
    startAudit() {
      passes.auditing = true;
      told.push('start audit');
    },
    async auditSlice() {
      told.push('slice');
      await turn();
      const over = --slices === 0;
      if (over) passes.auditing = false;
      return over ? summary(0, true) : undefined;
    },
    async tidy() {
      tidied.push(reported);
    },
    async sync() {
      passes.pending = false;
      told.push('sync');
      await turn();
      const result = results.shift() ?? summary(0);
      if (result instanceof Error) throw result;
      clock.now += result.milliseconds.plan + result.milliseconds.kernel;
      return result;
    },
  } satisfies Passes;
  const runner = new Runner(
    passes,
    {
      synced: () => reported++,
      failed: () => told.push('failed'),
      retrying: (milliseconds) => told.push(`retry in ${milliseconds}`),
    },
    {
      now: () => clock.now,
      set: (run, milliseconds) => {
        const timer = { run, milliseconds };
        timers.set(timer, timer);
        return timer;
      },
      clear: (timer) => timers.delete(timer as object),
    },
    { audit, rest, restFactor },
  );
  const settle = async () => {
    for (let i = 0; i < 10; i++) await turn();
    return told.splice(0);
  };
  /** Fires the timer with this delay, in ms. */
  const fire = (milliseconds: number) => {
    const due = [...timers.values()].find((timer) => timer.milliseconds === milliseconds);
    assert.ok(due, `no timer is set for ${milliseconds} ms`);
    timers.delete(due);
    due.run();
  };
  const armed = () => [...timers.values()].map(({ milliseconds }) => milliseconds);
  return { runner, passes, settle, fire, armed, tidied, clock };
}

describe('Runner', () => {
  it('saves memory when a pass has been reported, and not if it could not read or the runner stops', async () => {
    const { runner, passes, settle, fire, tidied } = setUp([summary(0), new Error('blind'), summary(0)]);
    for (let i = 0; i < 2; i++) {
      passes.pending = true;
      runner.request();
      await settle();
    }
    assert.deepEqual(tidied, [1]);
    fire(RETRY.first);
    await settle();
    assert.deepEqual(tidied, [1, 2]);
    passes.pending = true;
    runner.request();
    await turn();
    await runner.stop();
    assert.deepEqual(tidied, [1, 2]);
  });

  it('runs one pass for many requests, and another for changes that arrive meanwhile', async () => {
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

  it('retries when the next failed item is due', async () => {
    const { runner, passes, settle, fire, armed } = setUp([summary(1), summary(0, false, 1), summary(1)]);
    passes.retryIn = 700;
    runner.request();
    assert.deepEqual(await settle(), ['sync', 'retry in 700']);
    passes.retryIn = 300;
    runner.request();
    assert.deepEqual(await settle(), ['sync'], 'nothing failed');
    assert.deepEqual(armed(), [300], 'what failed is still due');
    passes.retryIn = undefined;
    fire(300);
    assert.deepEqual(await settle(), ['retry failed', 'sync']);
    assert.deepEqual(armed(), []);
  });

  it('waits on if the timer of a retry fires early', async () => {
    const { runner, passes, settle, fire, armed } = setUp([summary(1)]);
    passes.retryIn = 700;
    runner.request();
    await settle();
    passes.retryIn = 3;
    fire(700);
    assert.deepEqual(await settle(), ['retry failed'], 'no pass');
    assert.deepEqual(armed(), [3]);
    passes.retryIn = undefined;
    fire(3);
    assert.deepEqual(await settle(), ['retry failed', 'sync']);
  });

  it('sets the time of the retry after a slice of an audit too', async () => {
    const { runner, passes, settle, fire, armed } = setUp([summary(0, true)]);
    runner.request();
    await settle();
    const slice = passes.auditSlice;
    passes.auditSlice = async () => {
      passes.retryIn = 700;
      passes.auditing = false;
      passes.auditSlice = slice;
      return undefined;
    };
    fire(AUDIT);
    await settle();
    assert.ok(armed().includes(700));
  });

  it('runs no pass before the retry if the kernel cannot be read', async () => {
    const { runner, settle, fire } = setUp([new Error('gone')]);
    runner.request();
    assert.deepEqual(await settle(), ['sync', 'failed', `retry in ${RETRY.first}`]);
    runner.request();
    assert.deepEqual(await settle(), []);
    fire(RETRY.first);
    assert.deepEqual(await settle(), ['retry failed', 'sync']);
  });

  it('tries to read the kernel with increasing delays up to the longest, and with the first one after a success', async () => {
    const gone = new Error('gone');
    const { runner, settle, fire } = setUp([
      ...Array.from({ length: 11 }, () => gone),
      summary(0, true),
      gone,
    ]);
    runner.request();
    const delays: number[] = [];
    for (let i = 0; i < 11; i++) {
      const last = (await settle()).at(-1) ?? '';
      delays.push(Number(last.replace('retry in ', '')));
      fire(delays.at(-1) as number);
    }
    assert.deepEqual(delays, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000, 30_000]);
    await settle();
    runner.request();
    assert.equal((await settle()).at(-1), `retry in ${RETRY.first}`);
  });

  it('starts no audit at once if its period is longer than a timer can be', async () => {
    const weeks = 14 * 24 * 3_600_000;
    const { runner, settle, armed } = setUp([summary(0, true)], 0, weeks);
    runner.request();
    await settle();
    assert.deepEqual(armed(), [weeks, LONGEST_TIMER]);
  });

  it('starts an audit after a period without changes, and after twice the period with changes', async () => {
    const { runner, settle, fire, armed } = setUp([summary(0, true), { ...summary(0), services: 1 }]);
    runner.request();
    await settle();
    assert.deepEqual(armed(), [AUDIT, OVERDUE * AUDIT]);
    runner.request();
    await settle();
    assert.deepEqual(armed(), [OVERDUE * AUDIT, AUDIT], 'a change postpones only the audit');
    fire(OVERDUE * AUDIT);
    assert.deepEqual(await settle(), ['start audit', 'slice', 'slice', 'slice']);
    assert.deepEqual(armed(), [AUDIT, OVERDUE * AUDIT]);
  });

  it('does not postpone the audit after a pass that only ran maintenance', async () => {
    const { runner, settle, fire, armed } = setUp([
      { ...summary(0, true), again: 7 },
      { ...summary(0), again: 7 },
      { ...summary(1), again: 7 },
      { ...summary(0), operations: 1 },
    ]);
    runner.request();
    await settle();
    assert.deepEqual(armed(), [7, AUDIT, OVERDUE * AUDIT]);
    fire(7);
    await settle();
    assert.deepEqual(armed(), [AUDIT, OVERDUE * AUDIT, 7], 'nothing was done');
    fire(7);
    await settle();
    assert.deepEqual(armed().slice(0, 2), [AUDIT, OVERDUE * AUDIT], 'everything that was tried failed');
    fire(7);
    await settle();
    assert.equal(armed()[0], OVERDUE * AUDIT, 'something was done');
  });

  it('does not postpone the audit after a full pass that retried many items', async () => {
    const many = { ...summary(300, true), retriesMany: true } as const;
    const { runner, passes, settle, fire, armed } = setUp([summary(0, true), many, many]);
    runner.request();
    await settle();
    passes.retryIn = 700;
    runner.request();
    await settle();
    assert.deepEqual(armed().slice(0, 2), [AUDIT, OVERDUE * AUDIT], 'the timers of before');
    fire(AUDIT);
    assert.deepEqual(await settle(), ['start audit', 'slice', 'slice', 'slice']);
  });

  it('ends an audit while changes never pause: one slice after each pass', async () => {
    const { runner, passes, settle, fire } = setUp([summary(0, true)]);
    runner.request();
    await settle();
    const sync = passes.sync;
    let left = 20;
    passes.sync = () => {
      const pass = sync();
      passes.pending = left-- > 0;
      return pass;
    };
    passes.pending = true;
    fire(AUDIT);
    assert.deepEqual((await settle()).slice(0, 6), [
      'start audit',
      'slice',
      'sync',
      'slice',
      'sync',
      'slice',
    ]);
    for (let i = 0; i < 10; i++) await settle();
    assert.equal(passes.auditing, false);
  });

  it('runs an audit while a pass with changes waits for the end of minSyncPeriod', async () => {
    const { runner, passes, settle, fire } = setUp([summary(0, true)], 10_000);
    runner.request();
    await settle();
    passes.pending = true;
    runner.request();
    assert.deepEqual(await settle(), [], 'the pass waits');
    fire(AUDIT);
    assert.deepEqual(await settle(), ['start audit', 'slice', 'slice', 'slice']);
    assert.equal(passes.pending, true, 'the pass still waits');
    fire(10_000);
    assert.deepEqual(await settle(), ['sync']);
  });

  it('runs passes for changes between two slices of an audit', async () => {
    const { runner, passes, settle, fire } = setUp([summary(0, true), summary(0)]);
    runner.request();
    await settle();
    fire(AUDIT);
    const slice = passes.auditSlice;
    passes.auditSlice = () => {
      passes.pending = true;
      passes.auditSlice = slice;
      return slice();
    };
    assert.deepEqual(await settle(), ['start audit', 'slice', 'sync', 'slice', 'slice']);
  });

  it('runs a pass when maintenance is due, and none if nothing is pending', async () => {
    const { runner, settle, fire, armed } = setUp([{ ...summary(0), again: 7 }, summary(0)]);
    runner.request();
    await settle();
    fire(7);
    assert.deepEqual(await settle(), ['sync']);
    assert.ok(!armed().includes(7));
  });

  it('waits between passes if configured, and runs one pass for all changes that arrive meanwhile', async () => {
    const { runner, settle, fire, armed } = setUp([], 1000);
    runner.request();
    assert.deepEqual(await settle(), ['sync']);
    runner.request();
    runner.request();
    assert.deepEqual(await settle(), []);
    fire(1000);
    assert.deepEqual(await settle(), ['sync']);
    await runner.stop();
    assert.deepEqual(armed(), []);
  });

  it('rests in proportion to the time of its passes, from which pauses before are taken off, and not longer than configured', async () => {
    const took = (plan: number, kernel: number) => ({ ...summary(1), milliseconds: { plan, kernel } });
    const passes = [
      ...[took(0.5, 1.25), took(100, 50), took(200, 100), took(0.5, 0.25), took(0.5, 0.25)],
      ...[took(500, 0), took(0.5, 1.25), new Error('blind')],
    ];
    const { runner, settle, fire, armed, clock } = setUp(passes, 1000, AUDIT, 4);
    // 7 + 600 ms are owed after two passes, and 1000 ms have passed without any; the third owes 1200.
    for (const rest of [0, 0, 807, 3, 3, 1000, 7]) {
      runner.request();
      assert.deepEqual(await settle(), ['sync']);
      assert.deepEqual(
        armed().filter((milliseconds) => milliseconds <= 1000),
        rest === 0 ? [] : [rest],
      );
      if (rest > 0) fire(rest);
      clock.now += rest;
    }
    clock.now += 500;
    runner.request();
    await settle();
    assert.ok(armed().includes(1000), 'it is not known what a pass takes that cannot read');
  });

  it('stops: the current pass ends, no other starts, and no timer remains', async () => {
    const { runner, settle, armed } = setUp([summary(1)], 1000);
    runner.request();
    await turn();
    await runner.stop();
    assert.deepEqual(await settle(), ['sync']);
    assert.deepEqual(armed(), []);
    runner.request();
    assert.deepEqual(await settle(), []);
  });
});
