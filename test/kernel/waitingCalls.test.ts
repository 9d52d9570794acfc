// Calls of one operation: they keep their order, and the event loop never waits for them, however long the kernel makes them wait.
// Needs: namespace
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { after, before, test } from 'node:test';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { type NetlinkError, openRtnetlink, type Rtnetlink } from '../../src/kernel/rtnetlink/index.js';
import { threadTimes } from '../support/measures/threadTimes.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';

/**
 * The longest time for which JavaScript's thread may sleep in a call that waits for a lock, in ms. In one of them, a virtual machine may
 * be stopped for longer.
 */
const LONGEST_SLEEP = 10;
/** A call that takes so long has waited for a lock, in ms. */
const WAIT = 20;
/** Links whose deletion, at once, holds the lock of rtnetlink for several times {@link WAIT}. */
const LINKS = 1000;
/**
 * The longest time for which JavaScript's thread may sleep while it closes 50 watches, in ms. Their threads need the processors and
 * the memory of the process, for which it slept up to 36; if it waits for each of them, 320 to 1400.
 */
const LONGEST_CLOSES = 100;
const MOST_ROUNDS = 8;
/** Time for which JavaScript's thread runs between two turns, in ms. Calls that starve the loop last five times as long. */
const LONGEST_TURN = 100;

let namespace: Namespace;
let rtnetlink: Rtnetlink;
/** How often this process was stopped and continued: {@link asleep} runs meanwhile. Known in the next turn of the event loop. */
let stops = 0;
const address = { link: 'lo', address: '10.1.1.1', prefix: 32 } as const;

before(async () => {
  process.on('SIGCONT', () => stops++);
  namespace = makeNamespace();
  rtnetlink = await openRtnetlink({ netns: namespace.path });
});
after(async () => {
  await rtnetlink.close();
  namespace.remove();
});

/** Makes one call, and returns the time for which JavaScript's thread has slept in it, in ms, unless the process was stopped in it. */
async function sleptIn(add: boolean): Promise<number | undefined> {
  const [before, earlier] = [asleep(), stops];
  const call = add ? rtnetlink.addAddress(address) : rtnetlink.deleteAddress(address);
  const slept = asleep() - before;
  await setImmediate();
  const isDisturbed = stops > earlier;
  await call;
  return isDisturbed ? undefined : slept;
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

test('a call of one operation rejects with its error, with a signal or without', async () => {
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

/** Text for `ip -batch` that makes so many pairs. */
function pairsOfVeth(count: number): string {
  const lines = Array.from({ length: count }, (_, i) => `link add a${i} group 7 type veth peer name b${i}`);
  return lines.join('\n');
}

/** Another process that holds the lock of rtnetlink for a part of its time: it deletes many links at once, and makes them again. */
function startDeletions(): { readonly ended: Promise<unknown[]>; readonly runs: () => boolean } {
  const rounds = `for round in 1 2 3 4 5; do echo "$0" | ip -batch - && ip link del group 7; done`;
  const other = spawn('unshare', ['-n', 'sh', '-c', rounds, pairsOfVeth(LINKS)], { stdio: 'inherit' });
  return { ended: once(other, 'exit'), runs: () => other.exitCode === null && other.signalCode === null };
}

test('when the kernel makes calls wait for a lock of another process, the event loop does not', async (t) => {
  const other = startDeletions();
  /** Of the calls that waited for the lock. */
  const sleeps: number[] = [];
  let slowest = 0;
  let calls = 0;
  for (; other.runs(); calls++) {
    const begun = performance.now();
    const slept = await sleptIn(calls % 2 === 0);
    const took = performance.now() - begun;
    if (took >= WAIT && slept !== undefined) sleeps.push(slept);
    slowest = Math.max(slowest, took);
    await setImmediate();
  }
  assert.equal((await other.ended)[0], 0);
  sleeps.sort((a, b) => a - b);
  const shown = `${calls} calls, slowest ${slowest.toFixed(0)} ms, sleeps of those that waited ${sleeps.map((each) => each.toFixed(2)).join(' ')} ms`;
  t.diagnostic(shown);
  assert.ok(sleeps.length >= 3, `the other process has hardly held the lock: ${shown}`);
  // If it waited for the kernel, all of them would be that long; other processes make only some so.
  assert.ok((sleeps[sleeps.length >> 1] ?? 0) < LONGEST_SLEEP, shown);
  await unlessAbsent();
});

test('a worker thread that ends while the kernel makes its call wait ends after the call', async () => {
  const other = startDeletions();
  const workers: Worker[] = [];
  while (other.runs()) {
    const worker = new Worker(new URL('waitingCalls-worker.js', import.meta.url), {
      workerData: { netns: namespace.path },
    });
    workers.push(worker);
    await once(worker, 'message');
    await delay(1 + (workers.length % 5) * 7);
    await worker.terminate();
  }
  assert.equal((await other.ended)[0], 0);
  assert.ok(workers.length > 1, `${workers.length} workers`);
  const [left] = await rtnetlink.apply([
    { do: 'deleteAddress', address: { ...address, address: '10.1.1.2' } },
  ]);
  assert.equal(left, undefined);
});

async function unlessAbsent(): Promise<void> {
  const [left] = await rtnetlink.apply([{ do: 'deleteAddress', address }]);
  assert.ok(left === undefined || left.code === 'EADDRNOTAVAIL');
}

test('watches whose threads wait for a lock are closed without waiting for them', async (t) => {
  execFileSync('ip', ['-n', namespace.name, '-batch', '-'], { input: pairsOfVeth(1000) });
  const rounds: number[] = [];
  // A thread that holds a lock for a moment may get no CPU, or another process has the lock of the links: closes that wait for threads
  // sleep in all rounds.
  do rounds.push(await sleptInCloses());
  while (Math.min(...rounds) >= LONGEST_CLOSES && rounds.length < MOST_ROUNDS);
  const shown = rounds.map((slept) => `slept ${slept.toFixed(2)} ms`).join(', ');
  t.diagnostic(shown);
  assert.ok(Math.min(...rounds) < LONGEST_CLOSES, shown);
});

/** Closes watches, and returns the time for which JavaScript's thread has slept meanwhile, in ms; again if the process was stopped. */
async function sleptInCloses(): Promise<number> {
  const watches = Array.from({ length: 50 }, () =>
    rtnetlink.watch({ receiveBuffer: 4096 })[Symbol.asyncIterator](),
  );
  for (const watch of watches) await watch.next();
  // Watches that have lost notifications list the names of all links, one after another.
  const changes = Promise.all(Array.from({ length: 5 }, changeAddresses));
  await delay(50);
  const [before, earlier] = [asleep(), stops];
  const ends = watches.map((watch) => watch.return?.());
  await setImmediate();
  const slept = asleep() - before;
  await setImmediate();
  const isDisturbed = stops > earlier;
  await Promise.all(ends);
  await changes;
  return isDisturbed ? sleptInCloses() : slept;
}

/** Makes more notifications than the receive buffer of a watch has room for. */
async function changeAddresses(): Promise<void> {
  const addresses = Array.from({ length: 100 }, (_, i) => ({ ...address, address: `10.3.0.${i}` }));
  await rtnetlink.apply(addresses.map((each) => ({ do: 'addAddress', address: each })));
  await rtnetlink.apply(addresses.map((each) => ({ do: 'deleteAddress', address: each })));
}
