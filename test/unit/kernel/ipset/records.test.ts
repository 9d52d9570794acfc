import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { OPERATION } from '../../../../src/kernel/ipset/layouts.js';
import { attemptOf } from '../../../../src/kernel/ipset/names.js';
import { writeOperation } from '../../../../src/kernel/ipset/records.js';
import type {
  IpsetOperation,
  SetDefinition,
  SetEntry,
  SetReference,
} from '../../../../src/kernel/ipset/types.js';
import type { InvalidValue } from '../../../../src/kernel/shared/arguments.js';
import { RecordWriter } from '../../../../src/kernel/shared/records/recordWriter.js';

const IP: SetReference = { name: 'a', type: 'hash:ip', family: 4 };
const NET: SetReference = { name: 'a', type: 'hash:net', family: 4 };
const NET6: SetReference = { name: 'a', type: 'hash:net', family: 6 };
const IP_PORT: SetReference = { name: 'a', type: 'hash:ip,port', family: 4 };
const IP_PORT_NET: SetReference = { name: 'a', type: 'hash:ip,port,net', family: 4 };
const PORTS: SetReference = { name: 'a', type: 'bitmap:port' };

function findInvalid(operation: IpsetOperation): InvalidValue | undefined {
  const writer = new RecordWriter(OPERATION.SIZE, 1);
  writeOperation(operation, writer);
  return writer.finish();
}

const add = (set: SetReference, entry: SetEntry) => ({ do: 'add', set, entry }) as IpsetOperation;
const web: SetEntry = { address: '10.0.0.1', protocol: 'tcp', port: 80 };

const right: readonly (readonly [what: string, operation: IpsetOperation])[] = [
  ['a name of 31 bytes', { do: 'flush', name: 'x'.repeat(31) }],
  ['an entry of hash:ip', add(IP, { address: '10.0.0.1' })],
  ['a network', add(NET, { address: '10.0.0.0', prefix: 8 })],
  ['a network of one address', add(NET, { address: '10.0.0.1' })],
  ['a network of one address with its prefix', add(NET6, { address: 'fd00::1', prefix: 128 })],
  ['an entry of hash:ip,port', add(IP_PORT, web)],
  ['port 0', add(IP_PORT, { ...web, port: 0 })],
  ['an entry of hash:ip,port,net', add(IP_PORT_NET, { ...web, address2: '10.0.0.0', prefix2: 8 })],
  ['an entry of bitmap:port', add(PORTS, { port: 30080 })],
  [
    'a listed exception that is deleted',
    { do: 'delete', set: NET, entry: { address: '10.0.0.1', noMatch: true } } as IpsetOperation,
  ],
  ['a hash without sizes', { do: 'create', set: IP as SetDefinition }],
  ['a bitmap of one port', { do: 'create', set: { ...PORTS, range: [80, 80] } as SetDefinition }],
  ['a swap', { do: 'swap', name: 'a', other: 'b' }],
  ['a range as a network', add(IP, { address: '10.0.0.0', prefix: 24 })],
  ['an exception', add(NET, { address: '10.0.0.0', prefix: 8, noMatch: true })],
];

for (const [what, operation] of right) {
  test(`${what} is right`, () => {
    assert.equal(findInvalid(operation), undefined);
  });
}

const wrong: readonly (readonly [operation: unknown, field: string, rule: RegExp])[] = [
  [undefined, 'do', /^must be one of create, add/],
  [{ do: 'empty' }, 'do', /^must be one of create, add/],
  [{ do: 'rename', name: 'a' }, 'newName', /1 to 31 bytes/],
  [{ do: 'flushAll', name: 'a' }, 'name', /^is not a field of the operation flushAll$/],
  [{ do: 'create', set: IP, strict: 1 }, 'strict', /^must be true or false$/],
  [{ do: 'flush', name: '' }, 'name', /1 to 31 bytes/],
  [{ do: 'flush', name: 'x'.repeat(32) }, 'name', /1 to 31 bytes/],
  [{ do: 'destroy', name: 'é'.repeat(16) }, 'name', /1 to 31 bytes/],
  [{ do: 'destroy', name: 'a\0b' }, 'name', /1 to 31 bytes/],
  [{ do: 'destroy' }, 'name', /1 to 31 bytes/],
  [{ do: 'swap', name: 'a', other: '' }, 'other', /1 to 31 bytes/],
  [{ do: 'create' }, 'set.name', /1 to 31 bytes/],
  [{ do: 'create', set: { ...IP, type: 'hash:foo' } }, 'set.type', /one of hash:ip, hash:net,/],
  [{ do: 'create', set: { ...IP, type: 'hash:mac' } }, 'set.family', /^must be left out for hash:mac$/],
  [
    { do: 'create', set: { ...IP, type: 'bitmap:ip', family: 6 } },
    'set.family',
    /^must be 4, or left out, for/,
  ],
  [{ do: 'create', set: { ...IP, type: 'bitmap:ip' } }, 'set.range[0]', /^must be an IPv4 or IPv6 address$/],
  [{ do: 'create', set: { ...IP, netmask: 33 } }, 'set.netmask', /^must be an integer from 1 to 32$/],
  [
    { do: 'create', set: { ...IP, netmask: 24, bitmask: '255.0.0.0' } },
    'set.bitmask',
    /left out with netmask/,
  ],
  [{ do: 'create', set: { ...IP, bitmask: 'ff00::' } }, 'set.bitmask', /^must be an IPv4 address/],
  [{ do: 'create', set: { ...NET, netmask: 24 } }, 'set.netmask', /^must be left out for hash:net$/],
  [{ do: 'create', set: { ...IP, timeout: 2_147_484 } }, 'set.timeout', /from 0 to 2147483$/],
  [{ do: 'create', set: { ...IP, counters: 1 } }, 'set.counters', /^must be true or false$/],
  [{ do: 'create', set: { ...PORTS, forceAdd: true } }, 'set.forceAdd', /^must be left out for bitmap:port$/],
  [{ do: 'create', set: { ...IP, type: 'toString' } }, 'set.type', /one of/],
  [{ do: 'create', set: { ...IP, family: undefined } }, 'set.family', /^must be 4 or 6$/],
  [{ do: 'create', set: { ...PORTS, family: 4 } }, 'set.family', /^must be left out for bitmap:port$/],
  [{ do: 'create', set: { ...IP, hashSize: 0 } }, 'set.hashSize', /^must be an integer from 1/],
  [{ do: 'create', set: { ...IP, maxElements: 2 ** 32 } }, 'set.maxElements', /to 4294967295$/],
  [{ do: 'create', set: { ...IP, range: [1, 2] } }, 'set.range', /^must be left out for hash:ip$/],
  [{ do: 'create', set: { ...PORTS, hashSize: 64 } }, 'set.hashSize', /^must be left out for bitmap:port$/],
  [{ do: 'create', set: { ...PORTS, range: [2, 1] } }, 'set.range[1]', /from 2 to 65535$/],
  [add(IP, undefined as never), 'entry', /^must be an object$/],
  [add(IP, {}), 'entry.address', /^must be an IPv4 or IPv6 address$/],
  [add(IP, { address: '10.0.0.300' }), 'entry.address', /^must be an IPv4 or IPv6 address$/],
  [add(IP, { address: 'fd00::1' }), 'entry.address', /^must be an IPv4 address/],
  [add(NET6, { address: '10.0.0.1' }), 'entry.address', /^must be an IPv6 address/],
  [add(IP, { address: '::ffff:10.0.0.1' }), 'entry.address', /^must be an IPv4 address/],
  [add(IP, { address: '10.0.0.1', port: 80 }), 'entry.port', /^must be left out for hash:ip$/],
  [
    add({ ...IP, family: 6 }, { address: 'fd00::1', prefix: 128 }),
    'entry.prefix',
    /^must be left out for hash:ip of IPv6$/,
  ],
  [
    add({ ...IP, family: 6 }, { address: 'fd00::1', lastAddress: 'fd00::2' }),
    'entry.lastAddress',
    /^must be left out for hash:ip of IPv6$/,
  ],
  [
    add(NET, { address: '10.0.0.0', prefix: 8, lastAddress: '10.0.0.9' }),
    'entry.prefix',
    /^must be left out of a range of addresses$/,
  ],
  [
    add(IP_PORT, { address: '10.0.0.1', protocol: 1, icmp: { type: 8, code: 0 }, lastPort: 9 }),
    'entry.lastPort',
    /^must be left out for protocol 1$/,
  ],
  [add({ name: 'a', type: 'hash:mac' }, {}), 'entry.mac', /^must be six bytes as/],
  [add({ name: 'a', type: 'hash:mac' }, { mac: '1:2:3:4:5:6' }), 'entry.mac', /^must be six bytes as/],
  [add({ name: 'a', type: 'list:set' }, {}), 'entry.set', /1 to 31 bytes/],
  [
    add({ name: 'a', type: 'list:set' }, { set: 'b', before: 'c', after: 'd' }),
    'entry.after',
    /^must be left out with before$/,
  ],
  [
    add({ name: 'a', type: 'hash:net,iface', family: 4 }, { address: '10.0.0.1', interface: 'x'.repeat(16) }),
    'entry.interface',
    /1 to 15 bytes/,
  ],
  [add(IP, { address: '10.0.0.1', comment: 'a "quoted" word' }), 'entry.comment', /without quotation marks/],
  [add(IP, { address: '10.0.0.1', comment: 'é'.repeat(128) }), 'entry.comment', /of 1 to 255 bytes/],
  [add(IP, { address: '10.0.0.1', packets: 1 as never }), 'entry.packets', /^must be a bigint from 0n/],
  [add(IP, { address: '10.0.0.1', bytes: 1n << 64n }), 'entry.bytes', /^must be a bigint from 0n/],
  [add(IP, { address: '10.0.0.1', skbMask: 1 }), 'entry.skbMark', /from 0 to 4294967295$/],
  [add(IP, { address: '10.0.0.1', physdev: true }), 'entry.physdev', /^must be left out for hash:ip$/],
  [add(NET, { address: '0.0.0.0', prefix: 0 }), 'entry.prefix', /from 1 to 32$/],
  [add(NET, { address: '10.0.0.0', prefix: 33 }), 'entry.prefix', /from 1 to 32$/],
  [
    add(NET, { address: '10.0.0.1', prefix: 8 }),
    'entry.prefix',
    /^must cover every bit that is set in 10.0.0.1$/,
  ],
  [add(IP, { address: '10.0.0.1', noMatch: true }), 'entry.noMatch', /^must be left out/],
  [add(IP_PORT, { ...web, port: 70000 }), 'entry.port', /from 0 to 65535$/],
  [add(IP_PORT, { ...web, port: 1.5 }), 'entry.port', /from 0 to 65535$/],
  [
    add(IP_PORT, { ...web, protocol: 'icmp' as never }),
    'entry.protocol',
    /^must be one of tcp, udp, sctp, or a number from 1 to 255$/,
  ],
  [
    add(IP_PORT, { address: '10.0.0.1', port: 80 }),
    'entry.protocol',
    /^must be one of tcp, udp, sctp, or a number from 1 to 255$/,
  ],
  [add(IP_PORT_NET, web), 'entry.address2', /^must be an IPv4 or IPv6 address$/],
  [add(IP_PORT_NET, { ...web, address2: '10.1.0.0', prefix2: 8 }), 'entry.prefix2', /^must cover every bit/],
  [add(PORTS, { port: 80, protocol: 'tcp' }), 'entry.protocol', /^must be left out for bitmap:port$/],
];

test('an operation that breaks every rule still has a name in errors', () => {
  const names = [
    undefined,
    null,
    5,
    {},
    { do: 'add' },
    { do: 'delete', set: 1, entry: 'x' },
    { do: 'swap' },
  ].map((operation) => attemptOf(operation as never).operation);
  assert.deepEqual(names.slice(4), ['ipset.add', 'ipset.delete', 'ipset.swap']);
  const entry = { address: 5, prefix: 8, port: null } as unknown as SetEntry;
  assert.equal(attemptOf(add(NET, entry)).target, 'a 5/8,null');
});

for (const [operation, field, rule] of wrong) {
  test(`${field} is found wrong in ${inspect(operation, { breakLength: Infinity })}`, () => {
    const fault = findInvalid(operation as IpsetOperation);
    assert.equal(fault?.field, field);
    assert.match(fault?.rule ?? '', rule);
  });
}
