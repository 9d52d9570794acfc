// Operations that break a rule: the field and the rule are named, and nothing is written.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { OperationEncoder } from '../../../../src/kernel/nftables/encode/operations.js';
import type { NftablesOperation, SetName } from '../../../../src/kernel/nftables/types.js';
import { ByteWriter } from '../../../../src/kernel/shared/wire/byteWriter.js';

const TABLE = { family: 'ip', table: 'kube-proxy' } as const;
const SERVICES: SetName = {
  ...TABLE,
  name: 'service-ips',
  key: ['ipv4_addr', 'inet_proto', 'inet_service'],
  data: 'verdict',
};

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
/** Of a map whose elements have two data: both at once, as bytes. */
const twoData = (change: object): object => ({
  do: 'addElements',
  set: { ...TABLE, name: 'm', key: 'mark', data: 'ipv4_addr', dataIsInterval: true },
  elements: [{ key: 1, data: new Uint8Array(8), ...change }],
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
    { do: 'addSet', set: { ...TABLE, name: 's', key: 'mark', expressions: null } },
    'set.expressions',
    /an array of expressions/,
  ],
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
  [element({ expressions: [{ kind: 'x' }] }), 'elements[1].expressions[0].kind', /must be one of payload/],
  [element({ expressions: 5 }), 'elements[1].expressions', /an array of expressions/],
  [element({ expressions: null }), 'elements[1].expressions', /an array of expressions/],
  [element({ object: 'c' }), 'elements[1].object', /is of maps with objects/],
  [element({ dataEnd: 5 }), 'elements[1].dataEnd', /is of maps with dataIsInterval/],
  [twoData({ comment: 'x'.repeat(253) }), 'elements[0].comment', /at most 252 bytes/],
  [twoData({ dataEnd: '10.0.0.1' }), 'elements[0].data', /IPv4 address, or 4 bytes/],
  [element({ key: new Uint8Array(), keyEnd: '::' }), 'elements[1].keyEnd', /key stands for all other keys/],
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
  [{ do: 'addObject', object: { ...TABLE, name: 'o', type: 'last' } }, 'object.type', /counter, quota/],
  [{ do: 'addFlowTable', flowTable: { ...TABLE, name: 'f' } }, 'flowTable.priority', /must be an integer/],
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
