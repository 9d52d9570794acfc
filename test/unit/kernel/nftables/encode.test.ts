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

const drop = { kind: 'verdict', verdict: { verdict: 'drop' } } as const;
const add = (rule: object): object => ({
  do: 'addRule',
  rule: { ...TABLE, chain: 'c', expressions: [drop], ...rule },
});
const element = (change: object, set: object = SERVICES): object => ({
  do: 'addElements',
  set,
  elements: [
    { key: ['10.0.0.1', 'tcp', 80], data: { verdict: 'drop' } },
    { key: ['10.0.0.2', 'tcp', 80], data: { verdict: 'drop' }, ...change },
  ],
});
const lookup = (set: unknown) => add({ expressions: [drop, { kind: 'lookup', source: 1, set }] });

const INVALID: readonly [operation: unknown, field: string, rule: RegExp][] = [
  [undefined, 'operation', /must be an object/],
  [{ do: 'addNothing' }, 'do', /must be one of addTable, /],
  [
    { do: 'addTable', table: { family: 'ip', name: 't' }, exclusiv: true },
    'exclusiv',
    /not a field of the operation addTable/,
  ],
  [{ do: 'addTable', table: { family: 'ip', name: 't' }, exclusive: 1 }, 'exclusive', /true or false/],
  [{ do: 'addTable', table: { family: 'ip', name: 't', flag: [] } }, 'table.flag', /not a field of a table/],
  [{ do: 'addTable', table: { family: 'ipv4', name: 't' } }, 'table.family', /must be one of inet, ip, /],
  [{ do: 'addTable', table: { family: 'ip', name: '' } }, 'table.name', /1 to 255 bytes/],
  [{ do: 'addTable', table: { family: 'ip', name: 'x'.repeat(256) } }, 'table.name', /1 to 255 bytes/],
  [{ do: 'addTable', table: { family: 'ip', name: 'ü'.repeat(128) } }, 'table.name', /1 to 255 bytes/],
  [{ do: 'addTable', table: { family: 'ip', name: 'a\0' } }, 'table.name', /without a zero/],
  [
    { do: 'addTable', table: { family: 'ip', name: 't', comment: 'c'.repeat(129) } },
    'table.comment',
    /at most 128 bytes/,
  ],
  [
    { do: 'addTable', table: { family: 'ip', name: 't', flags: ['sleepy'] } },
    'table.flags',
    /must be among dormant/,
  ],
  [
    { do: 'addTable', table: { family: 'ip', name: 't', attributes: [] } },
    'table.attributes',
    /must be left out/,
  ],
  [
    { do: 'addChain', chain: { ...TABLE, name: 'c', base: { type: 'nat', hook: 'in', priority: 0 } } },
    'chain.base.hook',
    /must be a hook/,
  ],
  [
    {
      do: 'addChain',
      chain: { ...TABLE, name: 'c', base: { type: 'nat', hook: 'input', priority: 2 ** 31 } },
    },
    'chain.base.priority',
    /2147483647/,
  ],
  [
    { do: 'addChain', chain: { ...TABLE, name: 'c', base: { type: 'x', hook: 'input', priority: 0 } } },
    'chain.base.type',
    /filter, nat, route/,
  ],
  [
    {
      do: 'addChain',
      chain: { ...TABLE, name: 'c', base: { type: 'nat', hook: 'input', priority: 0, policy: 'x' } },
    },
    'chain.base.policy',
    /accept or drop/,
  ],
  [
    {
      do: 'addChain',
      chain: { ...TABLE, name: 'c', base: { type: 'filter', hook: 'ingress', priority: 0, devices: [''] } },
    },
    'chain.base.devices[0]',
    /name of a link/,
  ],
  [add({ expressions: {} }), 'rule.expressions', /array of expressions/],
  [add({ expressions: [drop, { kind: 'dropp' }] }), 'rule.expressions[1].kind', /must be one of payload/],
  [
    add({ expressions: [drop, { kind: 'unknown', name: 'x', data: new Uint8Array() }] }),
    'rule.expressions[1]',
    /kind that the library knows/,
  ],
  [
    add({ expressions: [{ ...drop, x: 1 }] }),
    'rule.expressions[0].x',
    /not a field of the expression verdict/,
  ],
  [
    add({ expressions: [{ kind: 'verdict', verdict: { verdict: 'jump' } }] }),
    'rule.expressions[0].verdict',
    /must be a verdict/,
  ],
  [
    add({ expressions: [{ kind: 'meta', key: 'mark', register: 5 }] }),
    'rule.expressions[0].register',
    /1 to 4, or 8 to 23/,
  ],
  [
    add({ expressions: [{ kind: 'meta', key: 'marks', register: 1 }] }),
    'rule.expressions[0].key',
    /must be one of len/,
  ],
  [
    add({ expressions: [{ kind: 'cmp', operator: 'eq', source: 1, data: [1] }] }),
    'rule.expressions[0].data',
    /Uint8Array of 1 to 64/,
  ],
  [
    add({ expressions: [{ kind: 'cmp', operator: 'eq', source: 1, data: new Uint8Array(65) }] }),
    'rule.expressions[0].data',
    /Uint8Array of 1 to 64/,
  ],
  [
    add({
      expressions: [
        { kind: 'bitwise', source: 1, register: 1, mask: new Uint8Array(4), xor: new Uint8Array(3) },
      ],
    }),
    'rule.expressions[0].xor',
    /as many bytes/,
  ],
  [
    add({ expressions: [{ kind: 'payload', base: 'network', offset: 0, length: 4 }] }),
    'rule.expressions[0].register',
    /must be a register/,
  ],
  [add({ expressions: [{ kind: 'masq', flags: ['x'] }] }), 'rule.expressions[0].flags', /list of random/],
  [
    add({ expressions: [{ kind: 'lookup', source: 1, set: 's', invert: 'no' }] }),
    'rule.expressions[0].invert',
    /true or false/,
  ],
  [
    add({
      expressions: [
        {
          kind: 'dynset',
          operation: 'add',
          set: 's',
          source: 1,
          expressions: [{ kind: 'counter', packets: 1 }],
        },
      ],
    }),
    'rule.expressions[0].expressions[0].packets',
    /bigint/,
  ],
  [add({ expressions: Array.from({ length: 4000 }, () => drop) }), 'rule.expressions', /at most 64 KiB/],
  [
    lookup({ key: 'ipv4_addr', elements: [{ key: '10.0.0.x' }] }),
    'rule.expressions[1].set.elements[0].key',
    /IPv4 address/,
  ],
  [lookup({ key: 'ipv4_addr' }), 'rule.expressions[1].set.elements', /array of elements/],
  [
    lookup({ key: 'ipv4_addr', elements: [], size: 1 }),
    'rule.expressions[1].set.size',
    /not a field of a set of a rule/,
  ],
  [
    lookup({ key: 'ipv4_addr', elements: [], name: '__set%d' }),
    'rule.expressions[1].set.name',
    /without a percent sign/,
  ],
  [lookup(7), 'rule.expressions[1].set', /name of 1 to 255|text of 1 to 255/],
  [{ do: 'deleteRule', rule: { ...TABLE, chain: 'c' } }, 'rule.handle', /handle of a rule/],
  [{ do: 'deleteRule', rule: { ...TABLE, chain: 'c', handle: 0n } }, 'rule.handle', /bigint from 1/],
  [{ do: 'addRule', rule: { ...TABLE, chain: 'c', expressions: [] }, after: 1 }, 'after', /bigint/],
  [{ do: 'addSet', set: { ...TABLE, name: 's', key: 'ipv4' } }, 'set.key', /type of values/],
  [{ do: 'addSet', set: { ...TABLE, name: 's', key: ['ipv4_addr'] } }, 'set.key', /list of 2 to 5/],
  [
    {
      do: 'addSet',
      set: { ...TABLE, name: 's', key: ['ipv6_addr', 'ipv6_addr', 'ipv6_addr', 'ipv6_addr', 'mark'] },
    },
    'set.key',
    /64 bytes/,
  ],
  [
    { do: 'addSet', set: { ...TABLE, name: 's', key: 'ipv4_addr', timeout: 1n } },
    'set.timeout',
    /needs the flag timeout/,
  ],
  [
    { do: 'addSet', set: { ...TABLE, name: 's', key: 'ipv4_addr', keyExpressions: [] } },
    'set.keyExpressions',
    /list of 1/,
  ],
  [
    { do: 'addSet', set: { ...TABLE, name: 's', key: 'ipv4_addr', keyExpressions: ['ip sadr'] } },
    'set.keyExpressions',
    /ip saddr/,
  ],
  [
    { do: 'addSet', set: { ...TABLE, name: 's', key: 'ipv4_addr', dataExpressions: ['ip saddr'] } },
    'set.dataExpressions',
    /needs keyExpressions/,
  ],
  [element({ key: ['10.0.0.1', 'tcp'] }), 'elements[1].key', /list of 3 values/],
  [element({ key: ['10.0.0.1', 'tcp', 65536] }), 'elements[1].key[2]', /0 to 65535/],
  [element({ keyEnd: ['10.0.0.1', 'tcp', 80] }), 'elements[1].keyEnd', /flag interval/],
  [element({ data: { verdict: 'jump', chain: '' } }), 'elements[1].data', /must be a verdict/],
  [element({ comment: 'x'.repeat(253) }), 'elements[1].comment', /at most 252 bytes/],
  [element({ timeout: 5 }), 'elements[1].timeout', /bigint from 1/],
  [element({ expire: 5n }), 'elements[1].expire', /not a field of an element/],
  [element({ expressions: [] }), 'elements[1].expressions', /not a field of an element/],
  [
    {
      do: 'addElements',
      set: { ...TABLE, name: 's', key: 'ipv4_addr', flags: ['interval'] },
      elements: [{ key: '10.0.0.2', keyEnd: '10.0.0.1' }],
    },
    'elements[0].keyEnd',
    /must not be before key/,
  ],
  [
    {
      do: 'addElements',
      set: { ...TABLE, name: 's', key: 'ipv4_addr' },
      elements: [{ key: '10.0.0.2', data: 1 }],
    },
    'elements[0].data',
    /is of maps/,
  ],
  [{ do: 'addObject', object: { ...TABLE, name: 'o', type: 'limit' } }, 'object.type', /counter, quota/],
  [{ do: 'addObject', object: { ...TABLE, name: 'o', type: 'quota' } }, 'object.bytes', /bigint/],
  [
    { do: 'addObject', object: { ...TABLE, name: 'o', type: 'counter', over: true } },
    'object.over',
    /object of type counter/,
  ],
];

for (const [operation, field, rule] of INVALID) {
  it(`refuses ${field} of ${(operation as { do?: string } | undefined)?.do}: ${rule.source}`, () => {
    const writer = new ByteWriter();
    const encoder = new OperationEncoder(writer);
    assert.equal(encoder.write({ do: 'deleteTable', table: { family: 'ip', name: 't' } }), undefined);
    const before = Buffer.from(writer.written());
    const invalid = encoder.write(operation as NftablesOperation);
    assert.equal(invalid?.field, field);
    assert.match(invalid?.rule ?? '', rule);
    assert.equal(encoder.messages, 0);
    assert.deepEqual(Buffer.from(writer.written()), before, 'nothing is written');
    assert.equal(encoder.write({ do: 'deleteTable', table: { family: 'ip', name: 't' } }), undefined);
    assert.deepEqual(writer.written().subarray(before.length), before, 'nor left in the memory');
  });
}
