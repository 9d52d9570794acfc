// Messages as values: whatever is written reads back; replies that are malformed are refused, and what is unknown is shown.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import { ElementBytesReader } from '../../../../src/kernel/nftables/decode/elementBytes.js';
import { ElementReader, readElementsOfEvent } from '../../../../src/kernel/nftables/decode/elements.js';
import { readEvent } from '../../../../src/kernel/nftables/decode/events.js';
import { readFlowTable } from '../../../../src/kernel/nftables/decode/flowTables.js';
import { readSet } from '../../../../src/kernel/nftables/decode/sets.js';
import {
  readChain,
  readGeneration,
  readObject,
  readRule,
  readTable,
} from '../../../../src/kernel/nftables/decode/tables.js';
import { OperationEncoder } from '../../../../src/kernel/nftables/encode/operations.js';
import type {
  Element,
  ElementValue,
  NftablesOperation,
  SetName,
} from '../../../../src/kernel/nftables/types.js';
import { bytesOf } from '../../../../src/kernel/nftables/values/values.js';
import { ByteWriter } from '../../../../src/kernel/shared/wire/byteWriter.js';
import { messagesIn } from '../../../../src/kernel/shared/wire/messages.js';
import { WHOLE } from '../../../support/extent.js';
import {
  CHAINS,
  CONNECTION_OBJECTS,
  ELEMENTS,
  EXPRESSIONS,
  FLOW_TABLES,
  OBJECTS,
  SETS,
  TABLE,
  TABLES,
} from '../../../support/nftables/everything.js';

/** The messages of an operation: their types and payloads. */
function messagesOf(...operations: readonly NftablesOperation[]): { type: number; payload: Uint8Array }[] {
  const writer = new ByteWriter();
  const encoder = new OperationEncoder(writer);
  for (const operation of operations) {
    const invalid = encoder.write(operation);
    assert.equal(invalid, undefined, `${operation.do}: ${invalid?.field} ${invalid?.rule}`);
  }
  const bytes = writer.written();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return [...messagesIn(view, 'test')].map(({ type, start, end }) => ({
    type,
    payload: new Uint8Array(bytes.subarray(start, end)),
  }));
}

function payloadOf(operation: NftablesOperation): Uint8Array {
  const messages = messagesOf(operation);
  assert.equal(messages.length, 1);
  return (messages[0] as { payload: Uint8Array }).payload;
}

for (const table of TABLES) {
  it(`table ${table.family} ${table.name.slice(0, 20)}`, () => {
    assert.deepEqual(readTable(payloadOf({ do: 'addTable', table })), { ...table, handle: 0n, use: 0 });
  });
}

for (const chain of CHAINS) {
  it(`chain ${chain.name} ${chain.base?.hook ?? ''}`, () => {
    assert.deepEqual(readChain(payloadOf({ do: 'addChain', chain })), { ...chain, handle: 0n, use: 0 });
  });
}

for (const set of SETS) {
  it(`set ${set.name} of ${[set.key].flat().join(' . ')}`, () => {
    const { keyLength, dataLength, ...read } = readSet(payloadOf({ do: 'addSet', set }));
    assert.deepEqual(read, { ...set, handle: 0n });
    assert.ok(keyLength > 0);
    assert.equal(dataLength === undefined, set.data === undefined);
  });
}

for (const object of [...OBJECTS, ...CONNECTION_OBJECTS]) {
  it(`object ${object.type} ${object.name}`, () => {
    assert.deepEqual(readObject(payloadOf({ do: 'addObject', object })), { ...object, handle: 0n, use: 0 });
  });
}

for (const flowTable of FLOW_TABLES) {
  it(`flow table ${flowTable.name}`, () => {
    const listed = { ...flowTable, handle: 0n, use: 0 };
    assert.deepEqual(readFlowTable(payloadOf({ do: 'addFlowTable', flowTable })), listed);
  });
}

EXPRESSIONS.forEach((expression, index) => {
  it(`expression ${expression.kind} (${index})`, () => {
    const rule = { ...TABLE, chain: 'c', expressions: [expression], comment: `the ${index}th` };
    assert.deepEqual(readRule(payloadOf({ do: 'addRule', rule })), { ...rule, handle: 0n });
  });
});

it('a rule with a place, and one that replaces another', () => {
  const rule = { ...TABLE, chain: 'c', expressions: EXPRESSIONS.slice(0, 5) };
  assert.deepEqual(readRule(payloadOf({ do: 'addRule', rule, after: 7n })), {
    ...rule,
    after: 7n,
    handle: 0n,
  });
  const replaced = { ...rule, handle: 9n };
  assert.deepEqual(readRule(payloadOf({ do: 'replaceRule', rule: replaced })), replaced);
});

for (const [set, elements] of ELEMENTS) {
  it(`elements of ${[set.key].flat().join(' . ')}, as listed and as notified of`, () => {
    const payload = payloadOf({ do: 'addElements', set, elements });
    assert.deepEqual([...new ElementReader(set).read(payload)], elements);
    for (const element of readElementsOfEvent(payload)) assert.ok(element.key instanceof Uint8Array);
    // Bytes are written as they are.
    const raw = [...new ElementReader({ flags: set.flags }).read(payload)];
    assert.deepEqual(payloadOf({ do: 'addElements', set, elements: raw }), payload);
  });
}

for (const [set, elements] of ELEMENTS) {
  const { key, data, flags, objects, dataIsInterval } = set;
  if (data === 'verdict' || flags?.includes('interval') || objects || dataIsInterval) continue;
  it(`elements of ${[key].flat().join(' . ')}, as bytes`, () => {
    const payload = payloadOf({ do: 'addElements', set, elements });
    const read = new ElementBytesReader(set).read(payload);
    const isPlain = (each: Element) =>
      Object.keys(each).every((field) => field === 'key' || field === 'data');
    const plain = elements.filter(isPlain);
    assert.ok(read);
    assert.equal(read.count, plain.length);
    assert.deepEqual(
      read.others,
      elements.filter((each) => !isPlain(each)),
    );
    const bytes = (types: SetName['key'], value: unknown) => [...bytesOf(types, value as ElementValue)];
    assert.deepEqual(
      [...read.keys],
      plain.flatMap((each) => bytes(key, each.key)),
    );
    assert.deepEqual(read.data && [...read.data], data && plain.flatMap((each) => bytes(data, each.data)));
  });
}

it('the end of an interval is no element as bytes, and an empty list has none', () => {
  const set: SetName = { ...TABLE, name: 's', key: 'ipv4_addr', flags: ['interval'] };
  const payload = payloadOf({ do: 'addElements', set, elements: [{ key: '10.0.0.0', keyEnd: '10.0.0.7' }] });
  const read = new ElementBytesReader(set).read(payload);
  assert.deepEqual(read?.others, [{ key: '10.0.0.8', isEnd: true }]);
  assert.deepEqual([read?.count, [...(read?.keys ?? [])]], [1, [10, 0, 0, 0]]);
  const [none] = descending(payload, 0);
  assert.ok(none);
  assert.equal(new ElementBytesReader(set).read(none), undefined);
});

it('a set of a rule is read by its own messages', () => {
  const set = { key: 'integer', data: ['ipv4_addr', 'inet_service'] } as const;
  const elements = [
    { key: 0, data: ['10.0.0.1', 80] },
    { key: 1, data: ['10.0.0.2', 80] },
  ] as const;
  const [first, second, third] = messagesOf({
    do: 'addRule',
    rule: {
      ...TABLE,
      chain: 'c',
      expressions: [{ kind: 'lookup', source: 1, register: 1, set: { ...set, elements } }],
    },
  });
  assert.ok(first && second && third);
  const read = readSet(first.payload);
  assert.deepEqual(
    { key: read.key, data: read.data, flags: read.flags, size: read.size, anonymous: read.anonymous },
    { ...set, flags: ['constant'], size: 2, anonymous: true },
  );
  assert.deepEqual([...new ElementReader(read).read(second.payload)], elements);
  const [lookup] = readRule(third.payload).expressions;
  assert.deepEqual(lookup, { kind: 'lookup', source: 1, register: 1, set: '__map%d' });
});

/** The elements of a list in descending order, as the kernel lists those of intervals, in two messages. */
function descending(payload: Uint8Array, first: number): Uint8Array[] {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
  let list = 4;
  while ((view.getUint16(list + 2, true) & 0x3fff) !== 3) list += (view.getUint16(list, true) + 3) & ~3;
  const elements: Uint8Array[] = [];
  for (let at = list + 4; at < payload.length; ) {
    const length = (view.getUint16(at, true) + 3) & ~3;
    elements.unshift(payload.subarray(at, at + length));
    at += length;
  }
  return [elements.slice(0, first), elements.slice(first)].map((part) => {
    const bytes = Buffer.concat([payload.subarray(0, list + 4), ...part]);
    bytes.writeUInt16LE(bytes.length - list, list);
    return new Uint8Array(bytes);
  });
}

const INTERVALS: readonly [set: SetName, elements: readonly Element[]][] = [
  [
    { ...TABLE, name: 's', key: 'ipv4_addr', flags: ['interval'] },
    [
      { key: '0.0.0.0' },
      { key: '10.0.0.0', keyEnd: '10.0.0.127', comment: 'a' },
      { key: '10.0.0.128', keyEnd: '10.0.1.255', comment: 'b' },
      { key: '10.0.3.0' },
      { key: '255.0.0.0', keyEnd: '255.255.255.255' },
    ],
  ],
  [
    { ...TABLE, name: 'm', key: 'mark', data: 'verdict', flags: ['interval'] },
    [
      { key: 1, keyEnd: 255, data: { verdict: 'drop' } },
      { key: 256, data: { verdict: 'accept' } },
      { key: 0xffff_ffff, data: { verdict: 'accept' } },
    ],
  ],
  [
    { ...TABLE, name: 'v6', key: 'ipv6_addr', flags: ['interval'] },
    [
      { key: 'fd00::', keyEnd: 'fd00::ffff' },
      { key: 'fd00::1:0', keyEnd: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff' },
    ],
  ],
];

for (const [set, elements] of INTERVALS) {
  it(`intervals of ${set.key}: their halves are joined, wherever a message ends`, () => {
    const payload = payloadOf({ do: 'addElements', set, elements });
    const halves = [...readElementsOfEvent(payload)];
    assert.equal(halves.length, elements.length * 2 - 1);
    assert.equal(halves.filter(({ isEnd }) => isEnd).length, elements.length - 1);
    for (let first = 0; first <= halves.length; first++) {
      const reader = new ElementReader(set);
      const read = descending(payload, first).flatMap((part) => [...reader.read(part)]);
      assert.deepEqual(read.reverse(), elements);
    }
  });
}

it('the end that nft writes before the first interval is no element', () => {
  const set: SetName = { ...TABLE, name: 's', key: 'ipv4_addr', flags: ['interval'] };
  const [end] = descending(payloadOf({ do: 'addElements', set, elements: [{ key: '10.0.0.0' }] }), 1);
  assert.ok(end);
  assert.deepEqual([...new ElementReader(set).read(end)], []);
});

it('what this library does not know is shown', () => {
  // NFTA_TABLE_NAME, and an attribute 200; NFTA_EXPR_NAME with an attribute 99 of meta.
  const table = readTable(Buffer.from('02000000' + '0600010074000000' + '0800c80001020304', 'hex'));
  assert.deepEqual(table.attributes, [{ type: 200, value: Uint8Array.of(1, 2, 3, 4) }]);
  const rule = readRule(
    Buffer.from(
      [
        '02000000',
        '0600010074000000',
        '0600020063000000',
        '2c000480',
        '28000180',
        '09000100',
        '6d65746100000000',
      ].join('') + ['18000280', '0800020000000003', '0800010000000001', '0400630000'].join('').slice(0, -2),
      'hex',
    ),
  );
  const [expression] = rule.expressions;
  assert.equal(expression?.kind, 'unknown');
  assert.equal(expression?.kind === 'unknown' && expression.name, 'meta');
  const invalid = new OperationEncoder(new ByteWriter()).write({ do: 'addRule', rule });
  assert.equal(invalid?.field, 'rule.expressions[0]');
});

it('a time of an expectation that is cut off is malformed', () => {
  const object = CONNECTION_OBJECTS.find(({ type }) => type === 'ct expectation') ?? assert.fail();
  const payload = payloadOf({ do: 'addObject', object });
  const time = Buffer.from(Uint16Array.of(8, 4).buffer);
  payload[Buffer.from(payload).indexOf(time)] = 6;
  assert.throws(() => readObject(payload), { code: 'ERR_MALFORMED_REPLY' });
});

/** A payload with one more of the user data in its attribute, which is the last one. */
function withDatum(payload: Uint8Array, attribute: number): Uint8Array {
  const view = Buffer.from(payload);
  let at = 4;
  while (view.readUInt16LE(at + 2) !== attribute) at += (view.readUInt16LE(at) + 3) & ~3;
  const length = view.readUInt16LE(at);
  const whole = Buffer.concat([
    view.subarray(0, at + length),
    Buffer.from('2a021122', 'hex'),
    Buffer.alloc(3),
  ]);
  whole.writeUInt16LE(length + 4, at);
  return new Uint8Array(whole.subarray(0, at + ((length + 7) & ~3)));
}

it('user data that have no field hide no comment, and are kept', () => {
  const rest = new Uint8Array([0x2a, 2, 0x11, 0x22]);
  const table = withDatum(
    payloadOf({ do: 'addTable', table: { family: 'ip', name: 't', comment: 'a comment' } }),
    6,
  );
  assert.deepEqual([readTable(table).comment, readTable(table).userData], ['a comment', rest]);
  const set = { family: 'ip', table: 't', name: 's', key: 'ipv4_addr', flags: ['interval'] } as const;
  const payload = payloadOf({ do: 'addSet', set: { ...set, autoMerge: true, comment: 'of a set' } });
  const { autoMerge, comment, userData } = readSet(withDatum(payload, 13));
  assert.deepEqual(
    { autoMerge, comment, userData },
    { autoMerge: true, comment: 'of a set', userData: rest },
  );
});

it('the events of a transaction', () => {
  const all: NftablesOperation[] = [
    ...TABLES.slice(0, 1).map((table) => ({ do: 'addTable', table }) as const),
    { do: 'deleteChain', chain: { ...TABLE, name: 'c' } },
    { do: 'addRule', rule: { ...TABLE, chain: 'c', expressions: [] } },
    { do: 'deleteSet', set: { ...TABLE, name: 's' } },
    { do: 'addElements', set: { ...TABLE, name: 's', key: 'mark' }, elements: [{ key: 1 }] },
    { do: 'deleteElements', set: { ...TABLE, name: 's', key: 'mark' }, elements: [{ key: 1 }] },
    { do: 'addObject', object: { ...TABLE, name: 'o', type: 'counter' } },
    { do: 'addFlowTable', flowTable: { ...TABLE, name: 'f', priority: 0 } },
    { do: 'deleteFlowTable', flowTable: { ...TABLE, name: 'f' } },
  ];
  const events = messagesOf(...all).map((message) => readEvent(message));
  assert.deepEqual(
    events.map((event) => event && 'change' in event && `${event.change} ${event.kind}`),
    [
      'new table',
      'deleted chain',
      'new rule',
      'deleted set',
      'new elements',
      'deleted elements',
      'new object',
      'new flowTable',
      'deleted flowTable',
    ],
  );
  const generation = Buffer.from(
    '00000000' + '0800010000000007' + '0800020000000009' + '080003006e667400',
    'hex',
  );
  assert.deepEqual(readEvent({ type: 0x0a0f, payload: generation }), {
    kind: 'generation',
    generation: { id: 7, pid: 9, program: 'nft' },
  });
  assert.equal(readEvent({ type: 0x0aff, payload: generation }), undefined);
});

/** A generator of numbers below a limit, which a seed determines (xorshift). */
function numbers(seed: number): (limit: number) => number {
  let state = seed >>> 0 || 1;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

/** A copy with up to four changes: bits, bytes, lengths of attributes, bytes left out, the end cut off. */
function changed(payload: Uint8Array, below: (limit: number) => number): Uint8Array {
  let copy = [...payload];
  for (let changes = 1 + below(4); changes > 0; changes--) {
    const at = below(copy.length || 1);
    switch (below(5)) {
      case 0:
        copy[at] = (copy[at] ?? 0) ^ (1 << below(8));
        break;
      case 1:
        copy[at] = [0, 1, 127, 128, 255][below(5)] ?? 0;
        break;
      case 2:
        copy[at & ~3] = below(24);
        break;
      case 3:
        copy.splice(at, 1 + below(8));
        break;
      default:
        if (below(8) === 0) copy = copy.slice(0, at);
    }
  }
  return Uint8Array.from(copy);
}

const ROUNDS = WHOLE ? 10_000 : 1000;

it(`${ROUNDS} malformed messages: each is read, or refused with ERR_MALFORMED_REPLY`, (t) => {
  const operations: NftablesOperation[] = [
    ...TABLES.map((table) => ({ do: 'addTable', table }) as const),
    ...CHAINS.map((chain) => ({ do: 'addChain', chain }) as const),
    ...SETS.map((set) => ({ do: 'addSet', set }) as const),
    ...ELEMENTS.map(([set, elements]) => ({ do: 'addElements', set, elements }) as const),
    ...[...OBJECTS, ...CONNECTION_OBJECTS].map((object) => ({ do: 'addObject', object }) as const),
    ...FLOW_TABLES.map((flowTable) => ({ do: 'addFlowTable', flowTable }) as const),
    ...EXPRESSIONS.map(
      (each) => ({ do: 'addRule', rule: { ...TABLE, chain: 'c', expressions: [each] } }) as const,
    ),
  ];
  const messages = messagesOf(...operations);
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
  t.diagnostic(`FUZZ_SEED=${seed}`);
  const below = numbers(seed);
  const shapes = ELEMENTS.map(([set]) => set);
  const readers = [readTable, readChain, readRule, readSet, readObject, readFlowTable, readGeneration];
  let refused = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { type, payload } = messages[round % messages.length] as { type: number; payload: Uint8Array };
    const message = { type, payload: changed(payload, below) };
    const attempts = [
      () => readEvent(message),
      () => [...new ElementReader(shapes[below(shapes.length)] ?? {}).read(message.payload)],
      () => new ElementBytesReader(shapes[below(shapes.length)] as SetName).read(message.payload),
      () => readers[below(readers.length)]?.(message.payload),
    ];
    for (const attempt of attempts) {
      try {
        attempt();
      } catch (error) {
        const isRefusal = error instanceof NetlinkError && error.code === 'ERR_MALFORMED_REPLY';
        const found = `FUZZ_SEED=${seed} round ${round}: ${Buffer.from(message.payload).toString('hex')}`;
        assert.ok(isRefusal, `${found}\n${(error as Error).stack}`);
        refused++;
      }
    }
  }
  // Else the changes would be too weak, or too strong to reach the readers.
  assert.ok(refused > ROUNDS / 10 && refused < 3.25 * ROUNDS, `${refused} refused`);
});
