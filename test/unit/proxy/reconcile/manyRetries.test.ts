// One Service has more refused items than are read alone: their retries displace no audit.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import { OVERDUE, Runner, type Timers } from '../../../../src/proxy/reconcile/runner.js';
import type { SyncSummary } from '../../../../src/proxy/reconcile/summary.js';
import { HOST, service, slice } from '../../../support/clusters/manifests.js';
import { WHOLE } from '../../../support/extent.js';
import { FakeNode } from '../../../support/oracle/testNode.js';

/** Period of audits, in ms: longer than the longest time between two retries. */
const AUDIT = 60_000;
/** Periods for which retries go on. */
const AUDITS = WHOLE ? 20 : 6;
const PORTS = Array.from({ length: 300 }, (_, i) => `{name: p${i}, port: ${1000 + i}}`);
const MANY = service('many', '10.96.0.9').replace('[{port: 80}]', `[${PORTS.join(', ')}]`);
const WEB = service('web', '10.96.0.1');

/** A node with a Service that is served, and one with 300 ports that the kernel refuses. */
async function refusing(): Promise<FakeNode> {
  const node = new FakeNode(HOST);
  await node.loadText(WEB + slice('web', '10.0.0.1'));
  assert.deepEqual((await node.sync()).failures, []);
  node.kernel.ipvs.fault = (operation, target) =>
    target.includes('10.96.0.9') ? new NetlinkError({ code: 'ENOMEM', operation, target }) : undefined;
  await node.loadText(MANY + WEB + slice('web', '10.0.0.1'));
  assert.equal((await node.sync()).unknown, PORTS.length);
  return node;
}

/** Timers of a manual clock: that of a node. */
class ManualTimers implements Timers {
  readonly #node: FakeNode;
  readonly #armed = new Set<{ readonly due: number; readonly run: () => void }>();

  constructor(node: FakeNode) {
    this.#node = node;
  }

  now(): number {
    return this.#node.now;
  }

  set(run: () => void, milliseconds: number): unknown {
    const timer = { run, due: this.#node.now + milliseconds };
    this.#armed.add(timer);
    return timer;
  }

  clear(timer: unknown): void {
    this.#armed.delete(timer as never);
  }

  /** Fires the next timer. */
  fireNext(): void {
    const [next] = [...this.#armed].sort((a, b) => a.due - b.due);
    assert.ok(next, 'a timer is set');
    this.#armed.delete(next);
    this.#node.now = Math.max(this.#node.now, next.due);
    next.run();
  }
}

describe('retries of many items', () => {
  it('let audits start and end in time, and repair what others changed meanwhile', async () => {
    const node = await refusing();
    const timers = new ManualTimers(node);
    const audits: number[] = [];
    const retries: SyncSummary[] = [];
    const runner = new Runner(
      node.reconciler,
      {
        synced(summary) {
          if (summary.repeated !== undefined) audits.push(node.now);
          else if (summary.full) retries.push(summary);
        },
        failed: assert.fail,
        retrying: () => {},
      },
      timers,
      { audit: AUDIT },
    );
    node.reconciler.requestFullSync();
    runner.request();
    for (let i = 0; i < 200; i++) await turn();
    while (node.now < AUDITS * AUDIT) {
      timers.fireNext();
      for (let i = 0; i < 200; i++) await turn();
    }
    await runner.stop();
    assert.ok(retries.length >= AUDITS, `${retries.length} full passes`);
    const times = [0, ...audits].map((time, i, all) => (all[i + 1] ?? node.now) - time);
    const longest = Math.max(...times);
    assert.ok(longest <= OVERDUE * AUDIT, `no audit for ${longest} ms`);
  });

  it('wait for the end of an audit', async () => {
    const node = await refusing();
    const { reconciler } = node;
    reconciler.startAudit();
    assert.equal(await reconciler.auditSlice(), undefined);
    node.retryFailed();
    assert.deepEqual([reconciler.pending, reconciler.retryIn], [false, undefined]);
    const { full, failures } = await node.sync();
    assert.deepEqual([full, failures, reconciler.auditing], [false, [], true]);
    while (reconciler.auditing) await reconciler.auditSlice();
    assert.equal(reconciler.pending, true);
    const retry = await node.sync();
    assert.deepEqual([retry.full, retry.retriesMany, retry.unknown], [true, true, PORTS.length]);
    assert.equal(reconciler.pending, false);
  });

  it('do not keep an audit from starting', async () => {
    const node = await refusing();
    const { reconciler } = node;
    node.retryFailed();
    assert.equal(reconciler.pending, true);
    reconciler.startAudit();
    assert.deepEqual([reconciler.pending, reconciler.auditing], [false, true]);
  });

  it('count what others changed as repairs, and not what is refused', async () => {
    const node = await refusing();
    const before = node.kernel.ipvs.dump();
    const id = { address: '10.96.0.1', port: 80, protocol: 'tcp' } as const;
    await node.kernel.ipvs.apply([{ do: 'deleteService', service: id }]);
    node.retryFailed();
    const { full, operations, repaired, failures } = await node.sync();
    assert.equal(node.kernel.ipvs.dump(), before);
    assert.deepEqual([full, failures.length, repaired], [true, PORTS.length, operations - PORTS.length]);
    assert.ok(repaired > 0);
    node.retryFailed();
    assert.equal((await node.sync()).repaired, 0);
  });
});
