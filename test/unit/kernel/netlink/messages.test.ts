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
