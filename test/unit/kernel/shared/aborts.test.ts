// One signal for many calls and watches: its listeners, and what ends with it.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { onAbort } from '../../../../src/kernel/shared/aborts.js';
import { Calls } from '../../../../src/kernel/shared/calls.js';
import { FakeConntrack } from '../../../../src/kernel/testing/index.js';

const MANY = 50;

/** The warnings of Node while `act` runs. */
async function warningsOf(act: () => Promise<void>): Promise<string[]> {
  const warnings: string[] = [];
  const listen = (warning: Error) => warnings.push(warning.name);
  process.on('warning', listen);
  await act();
  await turn(); // warnings come in a later turn
  process.off('warning', listen);
  return warnings;
}

test('a signal that many calls use at the same time has one listener, and none afterwards', async () => {
  const { signal } = new AbortController();
  const calls = new Calls({ open: async () => new Uint8Array(), close: () => {} });
  const warnings = await warningsOf(async () => {
    const running = Array.from({ length: MANY }, () =>
      calls.run({ operation: 'fake.call' }, () => turn(), { signal }),
    );
    assert.equal(getEventListeners(signal, 'abort').length, 1);
    await Promise.all(running);
  });
  assert.deepEqual(warnings, []);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('an abort ends every call and every watch with its reason', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const calls = new Calls({ open: async () => new Uint8Array(), close: () => {} });
  const conntrack = new FakeConntrack();
  const warnings = await warningsOf(async () => {
    const running = Array.from({ length: MANY }, () =>
      calls.run({ operation: 'fake.call' }, () => new Promise(() => {}), { signal }),
    );
    const watches = Array.from({ length: MANY }, async () => {
      for await (const event of conntrack.watch({ signal })) assert.equal(event.kind, 'resync');
    });
    await turn();
    controller.abort(new Error('stop'));
    const ends = await Promise.allSettled([...running, ...watches]);
    const reasons = ends.map((end) => end.status === 'rejected' && (end.reason as Error).message);
    assert.deepEqual([...new Set(reasons)], ['stop']);
  });
  assert.deepEqual(warnings, []);
});

test('a listener that was forgotten is not called, and the same function may listen twice', () => {
  const controller = new AbortController();
  let count = 0;
  const listener = () => count++;
  const forget = onAbort(controller.signal, listener);
  onAbort(controller.signal, listener);
  onAbort(controller.signal, listener);
  forget();
  forget();
  controller.abort();
  assert.equal(count, 2);
});
