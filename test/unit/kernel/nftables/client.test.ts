// The client of nftables over a stand-in for the addon: how transactions are sent, and their answers read.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NftablesClient } from '../../../../src/kernel/nftables/client.js';
import type { NftablesOperation } from '../../../../src/kernel/nftables/types.js';
import type { NativeNetlinkClient } from '../../../../src/kernel/shared/addon.js';
import { Calls } from '../../../../src/kernel/shared/calls.js';
import { ByteWriter } from '../../../../src/kernel/shared/wire/byteWriter.js';
import { messagesIn } from '../../../../src/kernel/shared/wire/messages.js';
import { ADDRESSES, chain, T, table } from '../../../support/contract/nftablesRuleset.js';

/** A TRANSACTION_ANSWER with failures. */
function answer(
  failures: readonly { index: number; errno: number; offset?: number; text?: string }[] = [],
  errorsLost = 0,
): Uint8Array {
  const bytes = new ByteWriter().u8(errorsLost).zeros(3);
  for (const { index, errno, offset = 0, text = '' } of failures) {
    bytes.u32(index).u32(errno).u32(offset).u32(text.length).bytes(Buffer.from(text)).pad();
  }
  return bytes.written();
}

/** The reply to the request for the generation. */
function generation(id: number): Uint8Array {
  return new ByteWriter().u32(28).u16(0x0a0f).u16(0).zeros(12).u16(8).u16(1).u32be(id).written();
}

/** What a call of the addon rejects with. */
function failure(code: string, errno = 0): Error {
  return Object.assign(new Error(code), { code, errno, kernelMessage: 'replies were lost' });
}

class Addon {
  readonly calls: string[] = [];
  /** The messages of the transactions. */
  readonly sent: Buffer[] = [];
  #gathered: Buffer[] = [];
  reply: () => Promise<Uint8Array> = async () => answer();
  id = 1;

  gather(messages: Uint8Array): void {
    this.calls.push('gather');
    this.#gathered.push(Buffer.from(messages));
  }

  drop(): void {
    this.calls.push('drop');
    this.#gathered = [];
  }

  transact(messages: Uint8Array): Promise<Uint8Array> {
    this.calls.push('transact');
    this.sent.push(Buffer.concat([...this.#gathered, messages]));
    this.#gathered = [];
    return this.reply();
  }

  /** The answers to requests, in their order; the last one is repeated. Default: the generation. */
  answers: Uint8Array[] = [];

  async query(): Promise<Uint8Array> {
    this.calls.push('query');
    return (this.answers.length > 1 ? this.answers.shift() : this.answers[0]) ?? generation(this.id);
  }

  close(): void {}
}

function opened() {
  const addon = new Addon();
  const calls = new Calls<NativeNetlinkClient, NftablesOperation>(addon as unknown as NativeNetlinkClient);
  return { addon, nftables: new NftablesClient(calls) };
}

const typesOf = (bytes: Buffer) =>
  [...messagesIn(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 'test')].map(({ type }) => type);

it('frames a transaction, with the generation on which it is based', async () => {
  const { addon, nftables } = opened();
  assert.deepEqual(await nftables.apply([table, chain('c')], { generation: 0x0102_0304 }), [
    undefined,
    undefined,
  ]);
  const [bytes = Buffer.of()] = addon.sent;
  assert.deepEqual(typesOf(bytes), [16, 0x0a00, 0x0a03, 17]);
  assert.equal(bytes.toString('hex', 16, 28), '0000000a' + '0800010001020304');
  assert.deepEqual(addon.calls, ['transact']);
});

it('gives a long transaction to the addon in pieces of whole messages', async () => {
  const { addon, nftables } = opened();
  const elements = Array.from({ length: 60_000 }, (_, i) => ({
    key: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
  }));
  const [result] = await nftables.apply([{ do: 'addElements', set: ADDRESSES, elements }]);
  assert.equal(result, undefined);
  assert.ok(addon.calls.filter((call) => call === 'gather').length >= 3, addon.calls.join());
  const types = typesOf(addon.sent[0] ?? Buffer.of());
  assert.deepEqual([types[0], types.at(-1), new Set(types.slice(1, -1)).size], [16, 17, 1]);
});

it('names the operation, the element and the expression of each failure', async () => {
  const { addon, nftables } = opened();
  addon.reply = async () =>
    answer([
      { index: 1, errno: 17 },
      { index: 3, errno: 2, offset: 48 + 20, text: 'why' },
      { index: 4, errno: 2 },
    ]);
  const expressions = [{ kind: 'counter' }, { kind: 'notrack' }] as const;
  const results = await nftables.apply([
    table,
    { do: 'addElements', set: ADDRESSES, elements: [] },
    chain('c'),
    { do: 'addRule', rule: { ...T, chain: 'c', expressions } },
    { do: 'deleteElements', set: ADDRESSES, elements: [{ key: '10.0.0.1' }] },
  ]);
  assert.deepEqual(
    results.map((result) => `${result?.code} ${result?.target}`),
    [
      'EEXIST table ip t',
      'ERR_ROLLED_BACK element ip t addresses',
      'ERR_ROLLED_BACK chain ip t c',
      'ENOENT rule ip t c expression 2 (notrack)',
      'ENOENT element ip t addresses',
    ],
  );
  assert.equal(results[3]?.kernelMessage, 'why');
});

it('says when errors were lost', async () => {
  const { addon, nftables } = opened();
  addon.reply = async () => answer([{ index: 1, errno: 17 }], 1);
  const [, undone] = await nftables.apply([table, chain('c')]);
  assert.match(undone?.kernelMessage ?? '', /, and others whose errors were lost$/);
});

it('gives each operation the failure of the whole', async () => {
  const { addon, nftables } = opened();
  addon.reply = async () => {
    throw failure('', 1);
  };
  const results = await nftables.apply([table, chain('c')]);
  assert.deepEqual(
    results.map((result) => [result?.code, result?.operation]),
    [
      ['EPERM', 'nftables.addTable'],
      ['EPERM', 'nftables.addChain'],
    ],
  );
  assert.deepEqual(addon.calls, ['transact', 'drop']);
});

it('asks for the generation when the outcome is unknown', async () => {
  const { addon, nftables } = opened();
  addon.reply = async () => {
    throw failure('ERR_UNKNOWN_OUTCOME');
  };
  addon.id = 7;
  const codeOf = async (options?: { generation: number }) => (await nftables.apply([table], options))[0];
  assert.equal((await codeOf())?.code, 'ERR_UNKNOWN_OUTCOME');
  assert.deepEqual(addon.calls, ['transact', 'drop']);
  const uncommitted = await codeOf({ generation: 7 });
  assert.equal(uncommitted?.code, 'ERR_ROLLED_BACK');
  assert.match(uncommitted?.kernelMessage ?? '', /generation 7 is still in force: nothing was applied/);
  assert.equal((await codeOf({ generation: 6 }))?.code, 'ERR_UNKNOWN_OUTCOME');
});

it('sends nothing that was aborted while it was written, and forgets it', async () => {
  const { addon, nftables } = opened();
  const abort = new AbortController();
  const elements = Array.from({ length: 200_000 }, (_, i) => ({
    key: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
  }));
  const call = nftables.apply([{ do: 'addElements', set: ADDRESSES, elements }], { signal: abort.signal });
  setImmediate(() => abort.abort(new Error('early')));
  await assert.rejects(call, /early/);
  assert.deepEqual(await nftables.apply([table]), [undefined]);
  assert.deepEqual(typesOf(addon.sent[0] ?? Buffer.of()), [16, 0x0a00, 17]);
  assert.equal(addon.sent.length, 1);
});

/** A listing of tables, each of which has been written in a generation. */
function tables(...generations: readonly number[]): Uint8Array {
  const bytes = new ByteWriter();
  for (const id of generations) {
    bytes.u32(44).u16(0x0a00).u16(0).zeros(8).u8(2).u8(0).u16be(id);
    bytes.put(1, () => bytes.bytes(Buffer.from('abc\0')));
    bytes.put(2, () => bytes.u32be(0));
    bytes.put(3, () => bytes.u32be(0));
  }
  return bytes.written();
}

it('reads a listing again that a transaction interrupted', async () => {
  const { addon, nftables } = opened();
  addon.answers = [tables(7, 8), tables(8, 8, 9), tables(9, 9)];
  assert.equal((await nftables.listTables().toArray()).length, 2);
  assert.equal(addon.calls.length, 3);
});

it('rejects a listing that transactions interrupt again and again', async () => {
  const { addon, nftables } = opened();
  addon.answers = [tables(7, 8)];
  await assert.rejects(nftables.listTables().toArray(), {
    code: 'ERR_INTERRUPTED',
    operation: 'nftables.listTables',
    kernelMessage: 'the ruleset changed during each of 10 attempts',
  });
  assert.equal(addon.calls.length, 10);
});
