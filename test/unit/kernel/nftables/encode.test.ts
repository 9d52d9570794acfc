// Operations as messages: how many, how long, and which element an offset is in. What they say is tested by reading them (decode.test.ts).
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { OperationEncoder } from '../../../../src/kernel/nftables/encode/operations.js';
import { elementAt } from '../../../../src/kernel/nftables/encode/places.js';
import type {
  AnonymousSet,
  NewElement,
  NftablesOperation,
  SetName,
} from '../../../../src/kernel/nftables/types.js';
import { ByteWriter } from '../../../../src/kernel/shared/wire/byteWriter.js';
import { messagesIn } from '../../../../src/kernel/shared/wire/messages.js';

const TABLE = { family: 'ip', table: 'kube-proxy' } as const;
const SERVICES: SetName = {
  ...TABLE,
  name: 'service-ips',
  key: ['ipv4_addr', 'inet_proto', 'inet_service'],
  data: 'verdict',
};

function written(...operations: readonly NftablesOperation[]): { bytes: Buffer; counts: number[] } {
  const writer = new ByteWriter();
  const encoder = new OperationEncoder(writer);
  encoder.begin();
  const counts = operations.map((operation) => {
    assert.equal(encoder.write(operation), undefined);
    return encoder.messages;
  });
  return { bytes: writer.written(), counts };
}

function messagesOf(bytes: Buffer): { type: number; flags: number; hex: string }[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return [...messagesIn(view, 'test')].map(({ type, flags, start, end }) => ({
    type,
    flags,
    hex: bytes.toString('hex', start, end),
  }));
}

it('the messages of nft 1.0.6 for a table, and for an element of a verdict map', () => {
  const { bytes } = written(
    { do: 'addTable', table: { family: 'ip', name: 't', comment: 'tc' } },
    {
      do: 'addElements',
      set: { ...SERVICES, table: 't', name: 'm' },
      elements: [{ key: ['10.0.0.1', 'tcp', 80], data: { verdict: 'goto', chain: 'c' } }],
    },
  );
  const [table, elements] = messagesOf(bytes);
  assert.equal(table?.type, 0x0a00);
  assert.equal(table?.flags, 0x401);
  assert.equal(
    table?.hex,
    '02000000' + '0600010074000000' + '0800020000000000' + '0900060000037463' + '00000000',
  );
  assert.equal(elements?.type, 0x0a0c);
  const head = ['02000000', '0600010074000000', '060002006d000000', '34000380', '30000180'];
  const key = ['14000180', '10000100', '0a000001', '06000000', '00500000'];
  const data = ['18000280', '14000280', '08000100', 'fffffffc', '0600020063000000'];
  assert.equal(elements?.hex, [...head, ...key, ...data].join(''));
});

const elements = (count: number): NewElement[] =>
  Array.from({ length: count }, (_, i) => ({
    key: [`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, 'tcp', 80],
    data: { verdict: 'goto', chain: `service-${i}` },
  }));

it('a long list of elements is several messages, whose lists are shorter than 65536 bytes', () => {
  const { bytes, counts } = written({ do: 'addElements', set: SERVICES, elements: elements(5000) });
  const messages = messagesOf(bytes);
  assert.equal(counts[0], messages.length);
  assert.ok(messages.length > 1);
  for (const { hex, type } of messages) {
    assert.equal(type, 0x0a0c);
    assert.ok(hex.length / 2 < 65_536);
  }
  assert.deepEqual(written({ do: 'addElements', set: SERVICES, elements: [] }).counts, [0]);
});

it('the offset of an error names the element, in whichever message of the operation', () => {
  const operation: NftablesOperation = { do: 'addElements', set: SERVICES, elements: elements(5000) };
  const { bytes } = written(operation);
  const messages = messagesOf(bytes);
  let index = 0;
  messages.forEach(({ hex }, message) => {
    for (let at = hex.indexOf(keyOf(index)); at >= 0; at = hex.indexOf(keyOf(index), at)) {
      const offset = at / 2 + 16;
      // A key is behind the headers of list element, key and value: 12 bytes.
      if (index % 100 === 0) {
        assert.equal(elementAt(operation, message, offset - 12), index);
        assert.equal(elementAt(operation, message, offset), index);
      }
      index++;
    }
  });
  assert.equal(index, 5000);
  assert.equal(elementAt(operation, 0, 20), undefined, 'the table');
  assert.equal(elementAt(operation, messages.length, 100), undefined);
  assert.equal(elementAt(operation, 0, 65_535), undefined);
});

function keyOf(index: number): string {
  return `0a${(index + 2 ** 24).toString(16).slice(1)}06000000`;
}

it('two halves of an interval are one element', () => {
  const set: SetName = { ...TABLE, name: 's', key: 'ipv4_addr', flags: ['interval'] };
  const operation: NftablesOperation = {
    do: 'addElements',
    set,
    elements: [
      { key: '10.0.0.0', keyEnd: '10.0.0.255' },
      { key: '10.0.2.0' },
      { key: '255.0.0.0', keyEnd: '255.255.255.255' },
    ],
  };
  const [message] = messagesOf(written(operation).bytes);
  const offset = (key: string) => (message?.hex.indexOf(key) ?? -1) / 2 + 16;
  assert.equal(elementAt(operation, 0, offset('0a000000')), 0);
  assert.equal(elementAt(operation, 0, offset('0a000100')), 0, 'behind the last address');
  assert.equal(elementAt(operation, 0, offset('0a000200')), 1);
  assert.equal(elementAt(operation, 0, offset('0a000201')), 1);
  assert.equal(elementAt(operation, 0, offset('ff000000')), 2);
  assert.equal(message?.hex.match(/0800030000000001/g)?.length, 2, 'none at the end of the address space');
});

it('an element of intervals of concatenations has a last key, also if it is its first one', () => {
  const key = ['ipv4_addr', 'inet_service'] as const;
  const set: SetName = { ...TABLE, name: 's', key, flags: ['interval'] };
  for (const doing of ['addElements', 'deleteElements'] as const) {
    const [message] = messagesOf(written({ do: doing, set, elements: [{ key: ['10.0.0.1', 80] }] }).bytes);
    assert.equal(message?.hex.match(/0a00000100500000/g)?.length, 2, doing);
  }
});

it('sets of rules have numbers that are unique in the transaction, and precede their rule', () => {
  const set = (): AnonymousSet => ({
    key: 'integer',
    data: 'verdict',
    elements: [{ key: 0, data: { verdict: 'drop' } }],
  });
  const rule = (): NftablesOperation => ({
    do: 'addRule',
    rule: {
      ...TABLE,
      chain: 'c',
      expressions: [
        { kind: 'numgen', type: 'random', modulus: 1, register: 1 },
        { kind: 'lookup', source: 1, register: 0, set: set() },
        { kind: 'lookup', source: 1, register: 0, set: set() },
      ],
    },
  });
  const { bytes, counts } = written(rule(), rule());
  assert.deepEqual(counts, [5, 5]);
  const messages = messagesOf(bytes);
  const types = messages.map(({ type }) => type & 255);
  assert.deepEqual(types, [9, 12, 9, 12, 6, 9, 12, 9, 12, 6]);
  for (const [i, message] of messages.entries()) {
    if ((message.type & 255) !== 12) continue;
    const id = `0000000${Math.floor(i / 5) * 2 + (i % 5 < 2 ? 1 : 2)}`;
    assert.ok(messages[i - 1]?.hex.includes(`08000a00${id}`), 'NFTA_SET_ID of the set');
    assert.ok(message.hex.includes(`08000400${id}`), 'NFTA_SET_ELEM_LIST_SET_ID of its elements');
  }
});
