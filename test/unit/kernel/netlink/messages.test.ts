// Messages in the bytes that cross to the addon.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageWriter, readMessages } from '../../../../src/kernel/netlink/messages.js';
import type { NetlinkRequest } from '../../../../src/kernel/netlink/types.js';

test('messages are one after another, with their lengths and padding', () => {
  const writer = new MessageWriter(0x300);
  assert.equal(writer.write({ type: 0x1234, flags: 5, payload: Uint8Array.of(1, 2, 3, 4, 5) }), undefined);
  assert.equal(writer.write({ type: 16 }), undefined);
  const header = '15000000' + '3412' + '0503' + '0000000000000000';
  const second = '10000000' + '1000' + '0003' + '0000000000000000';
  assert.equal(Buffer.from(writer.bytes()).toString('hex'), `${header}0102030405000000${second}`);
  assert.deepEqual(
    [...readMessages(writer.bytes())],
    [
      { type: 0x1234, flags: 0x305, payload: Uint8Array.of(1, 2, 3, 4, 5) },
      { type: 16, flags: 0x300, payload: new Uint8Array() },
    ],
  );
});

test('long messages enlarge the buffer', () => {
  const writer = new MessageWriter();
  for (let i = 0; i < 100; i++) writer.write({ type: 16 + i, payload: new Uint8Array(i * 7).fill(i) });
  const lengths = [...readMessages(writer.bytes())].map(({ payload }) => payload.length);
  assert.deepEqual(
    lengths,
    Array.from({ length: 100 }, (_, i) => i * 7),
  );
});

test('a message that breaks a rule writes nothing', () => {
  const writer = new MessageWriter();
  const refusals: [unknown, string][] = [
    [undefined, 'message must be an object'],
    [{ type: 15 }, 'type must be an integer from 16 to 65535'],
    [{ type: '16' }, 'type must be an integer from 16 to 65535'],
    [{ type: 16, flags: 65_536 }, 'flags must be an integer from 0 to 65535'],
    [{ type: 16, payload: 'x' }, 'payload must be a Uint8Array'],
    [{ type: 16, payload: new Uint8Array(131_073) }, 'payload.length must have at most 131072 bytes'],
    [{ type: 16, length: 4 }, 'length is not a field of a message'],
  ];
  for (const [message, expected] of refusals) {
    const fault = writer.write(message as NetlinkRequest);
    assert.equal(`${fault?.field} ${fault?.rule}`, expected);
  }
  assert.equal(writer.bytes().length, 0);
});

test('messages that change do not ask for a listing: of those that get in netfilter, one bit of NLM_F_DUMP suffices', () => {
  const NETFILTER = 12;
  const writer = new MessageWriter(0, NETFILTER);
  const isRefused = (type: number, flags: number) => writer.write({ type, flags })?.field === 'flags';
  // Flows, expectations, counters, tables, elements, hooks: get, and reset.
  for (const type of [0x101, 0x103, 0x106, 0x201, 0x701, 0x702, 0x901, 0xa01, 0xa0d, 0xa21, 0xc00]) {
    assert.deepEqual(
      [0, 0x100, 0x200, 0x300, 0x400].map((flags) => isRefused(type, flags)),
      [false, true, true, true, false],
      type.toString(16),
    );
  }
  // NLM_F_REPLACE and NLM_F_EXCL of a new flow, counter, table and rule, NLM_F_NONREC of a deleted table.
  for (const type of [0x100, 0x700, 0xa00, 0xa06, 0xa02]) {
    assert.deepEqual(
      [0x500, 0x600, 0x100, 0x200].map((flags) => isRefused(type, flags)),
      [false, false, false, false],
      type.toString(16),
    );
  }
});
