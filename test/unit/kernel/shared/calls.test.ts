// The queue before a native client, and the errors for its failures, with a client that a test controls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import type { NativeClient, NativeFailure } from '../../../../src/kernel/shared/addon.js';
import { applyAll, applyOne, type Packing } from '../../../../src/kernel/shared/batch.js';
import { Calls, openCalls, unless } from '../../../../src/kernel/shared/calls.js';
import { errnoName, toNetlinkError } from '../../../../src/kernel/shared/failures.js';
import { layout, u8 } from '../../../../src/kernel/shared/records/layout.js';
import { throwOnFailure } from '../../../../src/kernel/shared/throwOnFailure.js';

/** Keeps the records that it was sent, and answers a batch with the failures that the test sets. */
class FakeClient implements NativeClient {
  readonly events: string[] = [];
  readonly sent: number[][] = [];
  failures: NativeFailure[] = [];

  async open(netns: string, timeout: number): Promise<Uint8Array> {
    this.events.push(`open ${netns} ${timeout}`);
    return new Uint8Array();
  }
  async apply(operations: Uint8Array): Promise<NativeFailure[]> {
    this.sent.push([...operations]);
    return this.failures;
  }
  close(): void {
    this.events.push('close');
  }
}

const attempt = { operation: 'fake.call' };

const RECORD = layout({ number: u8 });

/** Operations are numbers. */
const PACKING: Packing<number> = {
  family: 'fake',
  recordSize: RECORD.SIZE,
  write: (operation, writer) => writer.u8(RECORD.number, writer.integer('number', operation, 0, 255)),
  attempt: (operation) => ({
    operation: 'fake.number',
    target: String(operation),
    hint: (code) => (code === 'ENOENT' ? 'look elsewhere' : undefined),
  }),
  nameOf: () => 'number',
};

function nativeError(errno: number, code = '', kernelMessage = ''): Error {
  return Object.assign(new Error(kernelMessage), { errno, code, kernelMessage });
}

test('calls run one after another, in order, past one that fails', async () => {
  const client = new FakeClient();
  const calls = new Calls(client);
  const call = (name: string, milliseconds: number, error?: Error) =>
    calls.run(attempt, async () => {
      client.events.push(`${name} begins`);
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      client.events.push(`${name} ends`);
      if (error) throw error;
      return name;
    });
  const results = await Promise.allSettled([call('a', 20), call('b', 5, nativeError(2)), call('c', 0)]);
  assert.deepEqual(client.events, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
});

test('the client is closed after the last call, once', async () => {
  const client = new FakeClient();
  const calls = new Calls(client);
  const asked = calls.run(attempt, async () => client.events.push('call'));
  const closed = [calls.close(), calls.close()];
  await assert.rejects(
    calls.run(attempt, async () => 1),
    { name: 'NetlinkError', code: 'ERR_CLOSED', operation: 'fake.call' },
  );
  await Promise.all(closed);
  assert.deepEqual(client.events, ['call', 'close']);
  await asked;
});

test('errors of the addon become NetlinkErrors, others stay', async () => {
  const calls = new Calls(new FakeClient());
  const failing = (error: Error) => calls.run(attempt, () => Promise.reject(error));
  await assert.rejects(failing(nativeError(1)), {
    code: 'EPERM',
    errno: 1,
    message: /^EPERM: fake\.call \(.*CAP_NET_ADMIN.*\)$/,
  });
  await assert.rejects(failing(nativeError(0, 'ERR_TIMEOUT', 'no reply from the kernel')), {
    code: 'ERR_TIMEOUT',
    errno: 0,
    kernelMessage: 'no reply from the kernel',
  });
  await assert.rejects(failing(new TypeError('argument 1')), { name: 'TypeError', message: 'argument 1' });
  assert.equal(await unless('ENOENT', failing(nativeError(2))), undefined);
  await assert.rejects(unless('ENOENT', failing(nativeError(3))), { code: 'ESRCH' });
});

test('options: defaults, and invalid values', async () => {
  const client = new FakeClient();
  await openCalls(client, {}, { operation: 'fake.open' });
  await openCalls(client, { netns: '/run/netns/blue', timeout: 7 }, { operation: 'fake.open' });
  await openCalls(client, { netns: 42 }, { operation: 'fake.open' });
  assert.deepEqual(client.events, ['open  5000', 'open /run/netns/blue 7', 'open /proc/42/ns/net 5000']);
  const open = (options: object) => openCalls(client, options, { operation: 'fake.open' });
  await assert.rejects(open({ timeout: 0 }), { name: 'RangeError', message: /^fake\.open: timeout must be/ });
  await assert.rejects(open({ timeout: 1.5 }), RangeError);
  await assert.rejects(open({ timeout: '5' }), TypeError);
  await assert.rejects(open({ netns: true }), TypeError);
  await assert.rejects(open({ netns: 0 }), RangeError);
  await assert.rejects(open({ netns: '/a\0b' }), RangeError);
  await assert.rejects(open({ netns: '' }), {
    name: 'RangeError',
    message: /^fake\.open: netns must be a path/,
  });
  await assert.rejects(open({ netns: null }), TypeError);
});

test('an aborted signal ends a call: it is not sent, or its result is dropped, and later calls follow', async () => {
  const client = new FakeClient();
  const calls = new Calls(client);
  const reason = new Error('no longer needed');
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const call = (name: string, options: object) =>
    calls.run(
      attempt,
      async () => {
        client.events.push(name);
        await gate;
        return name;
      },
      options,
    );
  const during = new AbortController();
  const results = Promise.allSettled([
    call('under way', { signal: during.signal }),
    call('waiting', { signal: during.signal }),
    call('aborted before', { signal: AbortSignal.abort(reason) }),
    call('later', { signal: new AbortController().signal }),
  ]);
  await new Promise(setImmediate);
  during.abort(reason);
  open();
  await assert.rejects(call('wrong', { signal: 'soon' }), {
    name: 'TypeError',
    message: "fake.call: signal must be an AbortSignal, found 'soon'",
  });
  await assert.rejects(call('wrong', { sginal: 1 }), {
    name: 'TypeError',
    message: /sginal is not an option/,
  });
  assert.deepEqual(
    (await results).map((each) => (each.status === 'rejected' ? each.reason : each.value)),
    [reason, reason, reason, 'later'],
  );
  assert.deepEqual(client.events, ['under way', 'later']);
});

test('an aborted opening closes the client', async () => {
  const client = new FakeClient();
  const opening = openCalls(client, { signal: AbortSignal.abort(new Error('stop')) }, attempt);
  await assert.rejects(opening, /stop/);
  await new Promise(setImmediate);
  assert.deepEqual(client.events, ['close']);
});

test('throwOnFailure throws one error as it is, and several together', () => {
  const [one, two] = [1, 2].map((errno) => toNetlinkError({ errno, code: '', message: '' }, attempt));
  throwOnFailure([]);
  throwOnFailure([undefined, undefined]);
  assert.throws(
    () => throwOnFailure([undefined, two]),
    (error) => error === two,
  );
  assert.throws(
    () => throwOnFailure([one, undefined, two]),
    (error) => {
      assert.ok(error instanceof AggregateError);
      assert.deepEqual(error.errors, [one, two]);
      assert.match(error.message, /^2 of 3 operations failed, the first: EPERM: fake\.call/);
      return true;
    },
  );
});

test('the errors of results have no stack until throwOnFailure throws one, which names its caller', async () => {
  const limit = Error.stackTraceLimit;
  const client = new FakeClient();
  client.failures = [{ index: 0, errno: 2, code: '', message: '' }];
  const [invalid, failed] = await applyAll(new Calls(client), [-1, 10], PACKING);
  assert.doesNotMatch(String(invalid?.stack), /\n +at /);
  assert.doesNotMatch(String(failed?.stack), /\n +at /);
  assert.equal(Error.stackTraceLimit, limit);
  assert.throws(
    () => throwOnFailure([failed]),
    (error) =>
      error === failed && /^NetlinkError: ENOENT.*\n.*calls\.test\.[jt]s/.test(String(failed?.stack)),
  );
});

test('a batch leaves out operations that break a rule, and finds the place of each failure', async () => {
  const client = new FakeClient();
  client.failures = [
    { index: 0, errno: 2, code: '', message: '' },
    { index: 2, errno: 0, code: 'ERR_UNKNOWN_OUTCOME', message: 'replies were lost' },
  ];
  const results = await applyAll(new Calls(client), [-1, 10, 11, 256, 12], PACKING);
  assert.deepEqual(client.sent, [[10, 11, 12]]);
  assert.deepEqual(
    results.map((result) => result?.message),
    [
      'ERR_INVALID_ARGUMENT: fake.number -1: number must be an integer from 0 to 255, found -1',
      'ENOENT: fake.number 10 (look elsewhere)',
      undefined,
      'ERR_INVALID_ARGUMENT: fake.number 256: number must be an integer from 0 to 255, found 256',
      'ERR_UNKNOWN_OUTCOME: fake.number 12: replies were lost (the kernel may have done it: observe before sending it again)',
    ],
  );
});

test('one operation resolves, or rejects with the error that it would have in a batch', async () => {
  const client = new FakeClient();
  const calls = new Calls(client);
  await applyOne(calls, 5, PACKING);
  await assert.rejects(applyOne(calls, 300, PACKING), { name: 'RangeError' });
  assert.deepEqual(client.sent, [[5]]);
  client.failures = [{ index: 0, errno: 17, code: '', message: '' }];
  await assert.rejects(applyOne(calls, 5, PACKING), { name: 'NetlinkError', code: 'EEXIST' });
});

test('numbers have the names that kernel sources use', () => {
  const names = [2, 3, 11, 17, 19, 22, 95, 99, 105].map(errnoName);
  assert.deepEqual(names, [
    'ENOENT',
    'ESRCH',
    'EAGAIN',
    'EEXIST',
    'ENODEV',
    'EINVAL',
    'EOPNOTSUPP',
    'EADDRNOTAVAIL',
    'ENOBUFS',
  ]);
  const unnamed = toNetlinkError({ errno: 4097, code: '', message: '' }, attempt);
  assert.ok(unnamed instanceof NetlinkError);
  assert.equal(unnamed.code, 'ERRNO_4097');
});
