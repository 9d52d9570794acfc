// The steady load of the demonstration, with requests that only pretend.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Load, type Requests } from '../../../demo/load.js';
import { Outcomes } from '../../../demo/outcomes.js';
import { describeSlowdown } from '../../../demo/slowdown.js';
import type { Outcome } from '../../laboratory/labHost.js';

const answer = (by: string): Outcome => ({ by, sees: '', kept: true, milliseconds: 0 });
const LASTS = { requests: 2, time: 0 };

/** Answered by each of the servers in turn. */
function inTurn(name: string, ...servers: readonly string[]): Requests {
  let sent = 0;
  return { name, send: async () => answer(servers[sent++ % servers.length] as string) };
}

function start(...flows: readonly Requests[]): { outcomes: Outcomes; load: Load } {
  const outcomes = new Outcomes(performance.now());
  outcomes.begin({ name: 'start', servers: ['a', 'b'] });
  return { outcomes, load: new Load(outcomes, flows) };
}

it('a phase lasts until it has had enough answers of each flow', async () => {
  const { outcomes, load } = start(inTurn('one', 'a', 'b'), inTurn('two', 'b', 'a'));
  await load.lastFor(LASTS);
  await load.stop();
  const [phase] = outcomes.phases;
  assert.ok(phase);
  for (const name of ['one', 'two']) assert.ok(outcomes.answers({ name }, phase) >= 2, name);
  assert.deepEqual(outcomes.failures, []);
});

it('an open connection that is lost counts once, and keeps no phase from its end', async () => {
  const lost: Requests = {
    name: 'open',
    server: 'a',
    send: async () => ({ error: 'ECONNRESET', milliseconds: 0 }),
  };
  const { outcomes, load } = start(lost, inTurn('one', 'a', 'b'));
  await load.lastFor(LASTS);
  outcomes.begin({ name: 'later', servers: ['a', 'b'] });
  await load.lastFor(LASTS);
  await load.stop();
  assert.equal(outcomes.failures.length, 1);
  assert.match(outcomes.failures[0] ?? '', /phase start: open: not answered: ECONNRESET$/);
});

it('a client that ended is a failure of its requests', async () => {
  const { outcomes, load } = start({
    name: 'one',
    server: 'a',
    send: () => Promise.reject(new Error('it ended')),
  });
  await load.stop();
  assert.match(outcomes.failures.join('\n'), /phase start: one: not answered: it ended$/);
});

it('the slowdown is described with what was measured inside and outside, and the factor', () => {
  const { text, factor } = describeSlowdown({ machine: 'QEMU', loopbackMs: 10 }, 164, '6.1.0');
  assert.equal(factor, '×16.4');
  assert.match(
    text,
    /QEMU \(Linux 6\.1\.0\), which is slower, ×16\.4: .* 164 ms here and 10 ms on this machine/,
  );
});
