// The steady load of the demonstration, with requests that only pretend.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeGround } from '../../../demo/ground.js';
import { Ledger } from '../../../demo/ledger.js';
import { Load, type Requests } from '../../../demo/load.js';
import type { Outcome } from '../../../demo/station.js';

const answer = (by: string): Outcome => ({ by, sees: '', kept: true, milliseconds: 0 });
const LASTS = { requests: 2, time: 0 };

/** Answered by each of the servers in turn. */
function inTurn(name: string, ...servers: readonly string[]): Requests {
  let sent = 0;
  return { name, send: async () => answer(servers[sent++ % servers.length] as string) };
}

function start(...flows: readonly Requests[]): { ledger: Ledger; load: Load } {
  const ledger = new Ledger(performance.now());
  ledger.begin({ name: 'start', servers: ['a', 'b'] });
  return { ledger, load: new Load(ledger, flows) };
}

it('a phase lasts until it has had enough answers of each flow', async () => {
  const { ledger, load } = start(inTurn('one', 'a', 'b'), inTurn('two', 'b', 'a'));
  await load.lastFor(LASTS);
  await load.stop();
  const [phase] = ledger.phases;
  assert.ok(phase);
  for (const name of ['one', 'two']) assert.ok(ledger.answers({ name }, phase) >= 2, name);
  assert.deepEqual(ledger.failures, []);
});

it('an open connection that is lost counts once, and keeps no phase from its end', async () => {
  const lost: Requests = {
    name: 'open',
    server: 'a',
    send: async () => ({ error: 'ECONNRESET', milliseconds: 0 }),
  };
  const { ledger, load } = start(lost, inTurn('one', 'a', 'b'));
  await load.lastFor(LASTS);
  ledger.begin({ name: 'later', servers: ['a', 'b'] });
  await load.lastFor(LASTS);
  await load.stop();
  assert.equal(ledger.failures.length, 1);
  assert.match(ledger.failures[0] ?? '', /phase start: open: not answered: ECONNRESET$/);
});

it('a client that ended is a failure of its requests', async () => {
  const { ledger, load } = start({
    name: 'one',
    server: 'a',
    send: () => Promise.reject(new Error('it ended')),
  });
  await load.stop();
  assert.match(ledger.failures.join('\n'), /phase start: one: not answered: it ended$/);
});

it('the ground is described with what was measured inside and outside, and the factor', () => {
  const { text, factor } = describeGround({ vehicle: 'QEMU', loopbackMs: 10 }, 164, '6.1.0');
  assert.equal(factor, '×16.4');
  assert.match(
    text,
    /QEMU \(Linux 6\.1\.0\), which is slower, ×16\.4: .* 164 ms here and 10 ms on this machine/,
  );
});
