// Calls on JavaScript's thread: they leave the event loop its turns, keep their order, and stop while the kernel makes them wait.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { after, before, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type NetlinkError, openRtnetlink, type Rtnetlink } from '../../src/kernel/rtnetlink/index.js';
import { makeNamespace, type Namespace } from '../support/netns.js';
import { threadTimes } from '../support/threadTimes.js';

/** A call that takes so long has waited for a lock: native/binding/loop_time.h, in ms. */
const WAIT = 10;
/** Time for which no call runs on JavaScript's thread after a wait, in ms. */
const PAUSE = 1000;
/** Links whose deletion, at once, holds the lock of rtnetlink for 100 ms and more. */
const LINKS = 300;
/** Time for which JavaScript's thread runs between two turns, in ms. Calls that starve the loop last five times as long. */
const LONGEST_TURN = 100;

let namespace: Namespace;
let rtnetlink: Rtnetlink;
const address = { link: 'lo', address: '10.1.1.1', prefix: 32 } as const;

before(async () => {
  namespace = makeNamespace();
  rtnetlink = await openRtnetlink({ netns: namespace.path });
});
after(async () => {
  await rtnetlink.close();
  namespace.remove();
});

/** Makes one call, and returns the time for which JavaScript's thread has slept in it, in ms. */
async function sleptIn(add: boolean): Promise<number> {
  const before = asleep();
  const call = add ? rtnetlink.addAddress(address) : rtnetlink.deleteAddress(address);
  const slept = asleep() - before;
  await call;
  return slept;
}

/** A clock that runs while this thread sleeps, and not while it runs or waits for a processor, in ms. */
function asleep(): number {
  const { ran, waited } = threadTimes();
  return performance.now() - ran - waited;
}

test('calls that are awaited one after another leave the event loop its turns', async () => {
  const started = threadTimes().ran;
  let last = started;
  let longest = 0;
  const turn = () => {
    const { ran } = threadTimes();
    longest = Math.max(longest, ran - last);
    last = ran;
  };
  const timer = setInterval(turn, 1);
  let calls = 0;
  for (; threadTimes().ran - started < 5 * LONGEST_TURN; calls += 2) {
    await rtnetlink.addAddress(address);
    await rtnetlink.deleteAddress(address);
  }
  turn();
  clearInterval(timer);
  assert.ok(longest < LONGEST_TURN, `${calls} calls, longest turn ${longest.toFixed(1)} ms`);
});

test('a call after a batch that is under way runs after it', async () => {
  const addresses = Array.from({ length: 1000 }, (_, i) => ({
    ...address,
    address: `10.2.${i >> 8}.${i & 255}`,
  }));
  const batch = rtnetlink.apply(addresses.map((each) => ({ do: 'addAddress', address: each })));
  const last = rtnetlink.deleteAddress({ ...address, address: '10.2.3.231' });
  const first = rtnetlink.addAddress({ ...address, address: '10.2.0.0' });
  await assert.rejects(first, { code: 'EEXIST', target: '10.2.0.0/32 dev lo' });
  await last;
  assert.ok((await batch).every((result) => result === undefined));
  const results = await rtnetlink.apply(addresses.map((each) => ({ do: 'deleteAddress', address: each })));
  assert.deepEqual(
    results.flatMap((result, i) => (result ? [[i, (result as NetlinkError).code]] : [])),
    [[999, 'EADDRNOTAVAIL']],
  );
});

test('a call on the thread of JavaScript rejects like every other', async () => {
  const calls = [
    () => rtnetlink.deleteAddress(address),
    () => rtnetlink.deleteAddress(address, { signal: new AbortController().signal }),
  ];
  for (const call of calls) {
    const expected = {
      code: 'EADDRNOTAVAIL',
      operation: 'rtnetlink.deleteAddress',
      target: '10.1.1.1/32 dev lo',
    };
    await assert.rejects(call(), expected);
  }
  const signal = AbortSignal.abort(new Error('no longer wanted'));
  await assert.rejects(rtnetlink.addAddress(address, { signal }), /no longer wanted/);
  await assert.rejects(rtnetlink.deleteAddress(address), { code: 'EADDRNOTAVAIL' }, 'it was not added');
});

test('an address is added to the link that has the name now', async () => {
  namespace.run('ip', 'link', 'add', 'one', 'type', 'veth', 'peer', 'name', 'two');
  await rtnetlink.addAddress({ ...address, link: 'one' });
  for (const [from, to] of [
    ['one', 'three'],
    ['two', 'one'],
    ['three', 'two'],
  ] as const) {
    namespace.run('ip', 'link', 'set', from, 'name', to);
  }
  await assert.rejects(rtnetlink.deleteAddress({ ...address, link: 'one' }), { code: 'EADDRNOTAVAIL' });
  await rtnetlink.deleteAddress({ ...address, link: 'two' });
  namespace.run('ip', 'link', 'del', 'one');
  await assert.rejects(rtnetlink.addAddress({ ...address, link: 'two' }), { code: 'ENODEV' });
});

test('when the kernel makes calls wait, no more than two in a second do so on the thread of JavaScript', async (t) => {
  const lines = Array.from(
    { length: LINKS },
    (_, i) => `link add a${i} group 7 type veth peer name b${i}`,
  ).join('\n');
  const rounds = `for round in 1 2 3; do echo "$0" | ip -batch - && ip link del group 7; done`;
  const other = spawn('unshare', ['-n', 'sh', '-c', rounds, lines], { stdio: 'inherit' });
  const ended = once(other, 'exit');
  const started = performance.now();
  const waits: number[] = [];
  let slowest = 0;
  for (let call = 0; other.exitCode === null && other.signalCode === null; call++) {
    const begun = performance.now();
    const blocked = await sleptIn(call % 2 === 0);
    slowest = Math.max(slowest, performance.now() - begun);
    if (blocked >= WAIT + 1) waits.push(blocked);
    await setImmediate();
  }
  assert.equal((await ended)[0], 0);
  const elapsed = performance.now() - started;
  const shown = `in ${elapsed.toFixed(0)} ms: ${waits.map((wait) => wait.toFixed(0)).join(', ')}`;
  t.diagnostic(`waits of the event loop, in ms, ${shown}; slowest call ${slowest.toFixed(0)} ms`);
  assert.ok(slowest >= 2 * WAIT, `the other process has not held the lock: ${shown}`);
  assert.ok(waits.length <= 2 + elapsed / PAUSE, shown);
  await unlessAbsent();
});

async function unlessAbsent(): Promise<void> {
  const [left] = await rtnetlink.apply([{ do: 'deleteAddress', address }]);
  assert.ok(left === undefined || left.code === 'EADDRNOTAVAIL');
}
