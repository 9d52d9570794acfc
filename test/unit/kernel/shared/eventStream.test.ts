// Events as async iterators: the order of events and losses, and every way in which an iteration ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { eventStream } from '../../../../src/kernel/shared/eventStream.js';
import type { WatchOptions } from '../../../../src/kernel/shared/types.js';
import { FakeEvents } from '../../../../src/kernel/testing/events.js';
import { sample } from '../../../support/extent.js';

const START = { kind: 'resync', lost: false, receiveBuffer: 1 << 20 };
const operation = 'fake.watch';
const LOSS = { kind: 'resync', lost: true };

function open(options: WatchOptions = {}) {
  const events = new FakeEvents<number>();
  const closed = new AbortController();
  const stream = events.stream(operation, options, closed.signal);
  return { events, stream, iterator: stream[Symbol.asyncIterator](), close: () => closed.abort() };
}

const value = async (next: Promise<IteratorResult<unknown>>) => (await next).value;

test('the first event is a resync, and later ones are those after it', async () => {
  const { events, iterator } = open();
  events.emit(1);
  assert.deepEqual(await value(iterator.next()), START);
  events.emit(2);
  events.emit(3);
  assert.deepEqual([await value(iterator.next()), await value(iterator.next())], [2, 3]);
  const waiting = iterator.next();
  await setImmediate();
  events.emit(4);
  assert.equal(await value(waiting), 4);
});

test('a loss follows the events before it, is reported once, and says how many were dropped', async () => {
  const { events, iterator } = open();
  await iterator.next();
  events.emit(1);
  events.lose();
  events.emit(2);
  events.lose();
  events.emit(3);
  const loss = { ...LOSS, dropped: 2 };
  assert.deepEqual([await value(iterator.next()), await value(iterator.next())], [1, loss]);
  events.emit(4);
  assert.equal(await value(iterator.next()), 4);
  // Without an event before it, and while next() waits.
  const waiting = iterator.next();
  await setImmediate();
  events.lose();
  assert.deepEqual(await value(waiting), { ...LOSS, dropped: 0 });
});

test('an iteration that is too slow has one loss, after as many events as there is room for', async () => {
  const rows = [
    [undefined, 65_536],
    [4096, 65_536],
    [8 << 20, 131_072],
  ] as const;
  for (const [receiveBuffer, room] of sample(rows, 1)) {
    const { events, iterator } = open({ receiveBuffer });
    await iterator.next();
    for (let i = 0; i < 200_000; i++) events.emit(i);
    for (let i = 0; i < room; i++) assert.equal(await value(iterator.next()), i);
    assert.deepEqual(await value(iterator.next()), { ...LOSS, dropped: 200_000 - room });
    events.emit(-1);
    assert.equal(await value(iterator.next()), -1);
  }
});

test('calls of next() that wait are answered in their order', async () => {
  const { events, iterator } = open();
  const waiting = [iterator.next(), iterator.next(), iterator.next()];
  await setImmediate();
  events.emit(1);
  events.emit(2);
  assert.deepEqual(await Promise.all(waiting.map(value)), [START, 1, 2]);
});

test('each iteration has a subscription of its own, and break ends it', async () => {
  const { events, stream, iterator } = open();
  await iterator.next();
  const seen: unknown[] = [];
  for await (const event of stream) {
    seen.push(event);
    if (event === 1) break;
    events.emit(1);
  }
  assert.deepEqual(seen, [START, 1]);
  events.emit(2);
  assert.deepEqual([await value(iterator.next()), await value(iterator.next())], [1, 2]);
});

test('return() and the end of the client end a next() that waits, without an error', async () => {
  for (const end of ['return', 'close'] as const) {
    const { events, iterator, close } = open();
    await iterator.next();
    const waiting = iterator.next();
    await setImmediate();
    if (end === 'close') close();
    else await iterator.return?.();
    assert.deepEqual(await waiting, { done: true, value: undefined });
    events.emit(1);
    assert.deepEqual(await iterator.next(), { done: true, value: undefined });
  }
});

test('a signal ends the iteration with its reason, once', async () => {
  const controller = new AbortController();
  const { iterator } = open({ signal: controller.signal });
  await iterator.next();
  const waiting = iterator.next();
  await setImmediate();
  const reason = new Error('enough');
  controller.abort(reason);
  await assert.rejects(waiting, (error) => error === reason);
  assert.deepEqual(await iterator.next(), { done: true, value: undefined });
});

test('a signal that is aborted before the start prevents the subscription', async () => {
  const stream = eventStream(() => assert.fail('subscribed'), {
    operation,
    signal: AbortSignal.abort('never'),
    closed: new AbortController().signal,
  });
  const iterator = stream[Symbol.asyncIterator]();
  await assert.rejects(iterator.next(), (error) => error === 'never');
  assert.equal((await iterator.next()).done, true);
});

test('an iteration that ends while it subscribes closes the subscription', async () => {
  let closings = 0;
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const subscribe = async () => {
    await gate;
    return {
      receiveBuffer: 0,
      take: () => ({ events: [], lost: false, dropped: 0 }),
      close: () => void closings++,
    };
  };
  const controller = new AbortController();
  const options = { operation, signal: controller.signal, closed: new AbortController().signal };
  const iterator = eventStream(subscribe, options)[Symbol.asyncIterator]();
  const first = iterator.next();
  await setImmediate();
  controller.abort('late');
  open();
  await assert.rejects(first, (error) => error === 'late');
  assert.equal(closings, 1);
});

test('an error of the subscription, or of reading it, ends the iteration', async () => {
  const closed = new AbortController().signal;
  const failing = eventStream(async () => Promise.reject(new Error('refused')), { operation, closed });
  const iterator = failing[Symbol.asyncIterator]();
  await assert.rejects(iterator.next(), /refused/);
  assert.equal((await iterator.next()).done, true);
  let closings = 0;
  const broken = eventStream(
    async () => ({
      receiveBuffer: 0,
      take: () => ({ events: unreadable(), lost: false, dropped: 0 }),
      close: () => void closings++,
    }),
    { operation, closed },
  );
  const reading = broken[Symbol.asyncIterator]();
  await reading.next();
  await assert.rejects(reading.next(), /unreadable/);
  assert.equal((await reading.next()).done, true);
  assert.equal(closings, 1);
});

// biome-ignore lint/correctness/useYield: it fails before the first event.
function* unreadable(): Generator<number> {
  throw new Error('unreadable');
}

test('the event loop turns while very many events are read', async () => {
  const { events, iterator } = open();
  await iterator.next();
  for (let i = 0; i < 20_000; i++) events.emit(i);
  let turns = 0;
  let reading = true;
  const count = async () => {
    for (; reading; turns++) await setImmediate();
  };
  const counting = count();
  for (let i = 0; i < 20_000; i++) await iterator.next();
  reading = false;
  await counting;
  assert.ok(turns >= 10, `${turns} turns`);
});

test('invalid options are refused', () => {
  const refuse = (options: object, pattern: RegExp) =>
    assert.throws(() => open(options as WatchOptions), pattern);
  refuse({ gather: -1 }, /fake\.watch: gather must be an integer from 0 to 60000, found -1/);
  refuse({ gather: '5' }, /gather must be/);
  refuse({ receiveBuffer: 4095 }, /receiveBuffer must be an integer from 4096 to 1073741823, found 4095/);
  refuse({ receiveBuffer: 2 ** 30 }, /receiveBuffer must be/);
  refuse({ receiveBuffer: '1' }, /receiveBuffer must be/);
  refuse({ keepAlive: 1 }, /keepAlive must be true or false/);
  refuse({ signal: {} }, /signal must be an AbortSignal/);
  refuse({ group: 1 }, /group is not an option/);
});
