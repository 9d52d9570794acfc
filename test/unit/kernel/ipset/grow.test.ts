// Growing a set, while others change it and when steps fail.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import type { SetDefinition } from '../../../../src/kernel/ipset/types.js';
import { FakeIpset } from '../../../../src/kernel/testing/ipset.js';

const SET: SetDefinition = {
  name: 'a',
  type: 'hash:ip',
  family: 4,
  maxElements: 3,
  timeout: 0,
  comment: true,
};

const entry = (i: number, rest: { readonly comment?: string; readonly timeout?: number } = {}) => ({
  address: `10.0.0.${i}`,
  ...rest,
});

async function fullSet(): Promise<FakeIpset> {
  const ipset = new FakeIpset();
  ipset.now = () => 0;
  await ipset.create(SET);
  for (const i of [1, 2, 3]) await ipset.add(SET, entry(i, { comment: `c${i}`, timeout: 100 * i }));
  return ipset;
}

async function texts(ipset: FakeIpset): Promise<string[]> {
  return ((await ipset.get('a'))?.entries ?? [])
    .map(({ address, comment, timeout }) => `${address} ${comment} ${timeout}`)
    .sort();
}

/** Calls `act` once, before the first operation with this name. */
function before(ipset: FakeIpset, name: string, act: () => Promise<void>): void {
  const swap = ipset.swap.bind(ipset);
  assert.equal(name, 'swap');
  ipset.swap = async (...names) => {
    ipset.swap = swap;
    await act();
    await swap(...names);
  };
}

const FULL = ['10.0.0.1 c1 100', '10.0.0.2 c2 200', '10.0.0.3 c3 300'];

test('entries keep their extensions, and others fit in', async () => {
  const ipset = await fullSet();
  await assert.rejects(ipset.add(SET, entry(4)), { code: 'IPSET_ERR_HASH_FULL' });
  await ipset.grow('a', { maxElements: 4 });
  assert.deepEqual(await texts(ipset), FULL);
  await ipset.add(SET, entry(4));
  assert.equal((await ipset.list()).length, 1);
});

test('changes by others while entries are copied are repeated', async () => {
  const ipset = await fullSet();
  before(ipset, 'swap', async () => {
    await ipset.delete(SET, entry(1));
    await ipset.add(SET, entry(2, { comment: 'new', timeout: 900 }));
    await ipset.add(SET, entry(9, { comment: 'c9', timeout: 9 }));
  });
  await ipset.grow('a', { maxElements: 10 });
  assert.deepEqual(await texts(ipset), ['10.0.0.2 new 900', '10.0.0.3 c3 300', '10.0.0.9 c9 9']);
  assert.equal((await ipset.list()).length, 1);
});

test('an entry that others add again to the larger set stays as they added it', async () => {
  const ipset = await fullSet();
  const swap = ipset.swap.bind(ipset);
  ipset.swap = async (name, other) => {
    ipset.swap = swap;
    await ipset.delete(SET, entry(1));
    await ipset.add(SET, entry(9, { comment: 'first' }));
    await swap(name, other);
    await ipset.add(SET, entry(9, { comment: 'second' }));
  };
  await ipset.grow('a', { maxElements: 10 });
  assert.ok((await texts(ipset)).includes('10.0.0.9 second 0'));
});

for (const verb of ['create', 'add', 'swap'] as const) {
  test(`the set stays as it was, and nothing remains, when ${verb} fails`, async () => {
    const ipset = await fullSet();
    ipset.fault = (operation, target) =>
      operation === `ipset.${verb}`
        ? new NetlinkError({ code: 'ENOMEM', errno: 12, operation, target })
        : undefined;
    await assert.rejects(ipset.grow('a', { maxElements: 10 }), (error) => {
      const [first = error] = error instanceof AggregateError ? error.errors : [error];
      return first instanceof NetlinkError && first.code === 'ENOMEM';
    });
    assert.deepEqual(await texts(ipset), FULL);
    assert.deepEqual(
      (await ipset.list()).map(({ name, maxElements }) => [name, maxElements]),
      [['a', 3]],
    );
  });
}

test('the set has its former entries again when they cannot be compared after the swap', async () => {
  const ipset = await fullSet();
  before(ipset, 'swap', async () => {
    ipset.readFault = (operation, target) => new NetlinkError({ code: 'ENOBUFS', operation, target });
  });
  await assert.rejects(ipset.grow('a', { maxElements: 10 }), { code: 'ENOBUFS' });
  ipset.readFault = () => undefined;
  assert.deepEqual(await texts(ipset), FULL);
  assert.deepEqual(
    (await ipset.list()).map(({ name, maxElements }) => [name, maxElements]),
    [['a', 3]],
  );
});

test('an error names the temporary set when it cannot be removed', async () => {
  const ipset = await fullSet();
  ipset.fault = (operation, target) =>
    /\.(swap|destroy)$/.test(operation) ? new NetlinkError({ code: 'ENOMEM', operation, target }) : undefined;
  await assert.rejects(ipset.grow('a', { maxElements: 10 }), (error) => {
    assert.ok(error instanceof AggregateError);
    assert.match(error.message, /^ipset.grow: the temporary set knp-[0-9a-f]{16} remains$/);
    return error.errors.length === 2;
  });
  assert.deepEqual(await texts(ipset), FULL);
});

test('an aborted signal ends it before the swap', async () => {
  const ipset = await fullSet();
  const controller = new AbortController();
  ipset.onBatch = ({ names }) => {
    if (names.includes('add')) controller.abort(new Error('enough'));
  };
  await assert.rejects(ipset.grow('a', { maxElements: 10 }, { signal: controller.signal }), {
    message: 'enough',
  });
  assert.deepEqual(await texts(ipset), FULL);
  assert.equal((await ipset.list()).length, 1);
});

test('a set with attributes of a newer kernel is refused: something would be lost', async () => {
  const ipset = await fullSet();
  const get = ipset.get.bind(ipset);
  ipset.get = async (name) => {
    const state = await get(name);
    return state && { ...state, set: { ...state.set, attributes: [{ type: 99, value: Uint8Array.of(1) }] } };
  };
  await assert.rejects(ipset.grow('a', {}), {
    name: 'RangeError',
    message: /whose attributes are all known/,
  });
});
