// What the fake of nftables has beside its contract: its text, faults, and the time.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FakeKernel, FakeNftables, failNth } from '../../../../src/kernel/testing/index.js';
import { ADDRESSES, CLIENTS, chain, ruleset, T, table } from '../../../support/contract/nftablesRuleset.js';
import { complete, inOrder, LISTED } from '../../../support/nftables/listed.js';

it('prints the ruleset as nft lists it', async () => {
  const nftables = new FakeNftables();
  assert.equal(nftables.dump(), '');
  assert.deepEqual(
    await nftables.apply(complete),
    complete.map(() => undefined),
  );
  assert.deepEqual(inOrder(nftables.dump()), inOrder(LISTED));
});

it('has the state of before after a transaction that failed, whichever operation it was', async () => {
  for (let nth = 1; nth <= ruleset.length; nth++) {
    const nftables = new FakeNftables();
    await nftables.apply(ruleset);
    const { id } = await nftables.generation();
    const before = nftables.dump();
    nftables.fault = failNth(nth);
    const changes = [
      { do: 'flushTable', table: { family: 'ip', name: 't' } } as const,
      { do: 'deleteTable', table: { family: 'ip', name: 't' } } as const,
      ...ruleset.slice(2),
    ];
    const results = await nftables.apply(changes);
    const codes = results.map((result) => result?.code);
    assert.equal(codes[nth - 1], 'ENOMEM');
    assert.equal(codes.filter((code) => code === 'ERR_ROLLED_BACK').length, ruleset.length - 1);
    assert.equal(nftables.dump(), before);
    assert.equal((await nftables.generation()).id, id);
  }
});

it('undoes all that a transaction did before the kernel refused an operation', async () => {
  const nftables = new FakeNftables();
  await nftables.apply(ruleset);
  const before = nftables.dump();
  const results = await nftables.apply([
    { do: 'deleteTable', table: { family: 'ip', name: 't' } },
    ...ruleset,
    { do: 'deleteChain', chain: { ...T, name: 'none' } },
  ]);
  assert.equal(results.at(-1)?.code, 'ENOENT');
  assert.equal(nftables.dump(), before);
  // Handles go on as if it had not been.
  await nftables.apply([chain('next')]);
  const chains = await nftables.listChains({ ...T }).toArray();
  const handles = chains.map(({ handle }) => handle);
  assert.deepEqual(
    handles,
    [...handles].sort((a, b) => (a < b ? -1 : 1)),
  );
});

it('lets elements vanish when their time is over', async () => {
  const nftables = new FakeNftables();
  let now = 1000;
  nftables.now = () => now;
  await nftables.apply([table, { do: 'addSet', set: CLIENTS }]);
  await nftables.addElements(CLIENTS, [{ key: '10.0.0.1', timeout: 500n }, { key: '10.0.0.2' }]);
  now += 200;
  const [first] = await nftables.getElements(CLIENTS, [{ key: '10.0.0.1' }]);
  assert.deepEqual([first?.timeout, first?.expires], [500n, 300n]);
  now += 400;
  assert.deepEqual(
    (await nftables.listElements(CLIENTS).toArray()).map(({ key }) => key),
    ['10.0.0.2'],
  );
  await nftables.addElements(CLIENTS, [{ key: '10.0.0.1' }]);
  assert.equal((await nftables.listElements(CLIENTS).toArray()).length, 2);
});

it('fails reads on demand, and counts through all parts of a kernel', async () => {
  const kernel = new FakeKernel();
  kernel.readFault = failNth(2);
  await kernel.nftables.generation();
  await assert.rejects(kernel.nftables.listTables().toArray(), {
    code: 'ENOMEM',
    operation: 'nftables.listTables',
  });
  kernel.fault = failNth(1);
  await assert.rejects(kernel.nftables.addTable({ family: 'ip', name: 't' }), {
    code: 'ENOMEM',
    operation: 'nftables.addTable',
  });
});

it('loses notifications on demand', async () => {
  const nftables = new FakeNftables();
  await nftables.apply([table, { do: 'addSet', set: ADDRESSES }]);
  const events = nftables.watch()[Symbol.asyncIterator]();
  await events.next();
  nftables.events.lose();
  const event = (await events.next()).value;
  assert.ok(event?.kind === 'resync' && event.lost);
  await events.return?.();
});
