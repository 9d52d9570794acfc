// One watch for several listeners.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sharedWatch } from '../../../../../src/command/modes/shared/sharedWatch.js';

/** A watch whose events the test sends, and how often it was opened and closed. */
function setUp() {
  const counts = { opened: 0, closed: 0 };
  const state: { send?: (event: string) => void; error?: Error } = {};
  const watch = sharedWatch<string>(async (listener) => {
    counts.opened++;
    if (state.error) throw state.error;
    state.send = listener;
    return { close: () => void counts.closed++ };
  });
  const listen = async (name: string, seen: string[]) => watch((event) => seen.push(`${name} ${event}`));
  return { counts, state, listen };
}

it('is opened once, sends each event to all listeners, and is closed with the last of them', async () => {
  const { counts, state, listen } = setUp();
  const seen: string[] = [];
  const [a, b] = await Promise.all([listen('a', seen), listen('b', seen)]);
  state.send?.('1');
  a.close();
  a.close();
  state.send?.('2');
  assert.deepEqual([seen, counts], [['a 1', 'b 1', 'b 2'], { opened: 1, closed: 0 }]);
  b.close();
  await Promise.resolve();
  assert.deepEqual(counts, { opened: 1, closed: 1 });
  await listen('c', seen);
  assert.equal(counts.opened, 2);
});

it('is opened again for the next listener after it could not be opened', async () => {
  const { counts, state, listen } = setUp();
  state.error = new Error('no permission');
  await assert.rejects(listen('a', []), /no permission/);
  delete state.error;
  const seen: string[] = [];
  await listen('b', seen);
  state.send?.('1');
  assert.deepEqual([seen, counts.opened], [['b 1'], 2]);
});
