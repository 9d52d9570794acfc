// Values, concatenations and user data as bytes. The expected bytes are those of nft 1.0.6 (nft --debug=mnl).
import assert from 'node:assert/strict';
import { endianness } from 'node:os';
import { it } from 'node:test';
import type { ElementValue, KeyExpression, ValueTypes } from '../../../../src/kernel/nftables/types.js';
import {
  readKeyExpressions,
  writeKeyExpressions,
} from '../../../../src/kernel/nftables/values/keyExpressions.js';
import {
  commentIn,
  readUserData,
  SET_UDATA,
  textDatum,
  writeUserData,
} from '../../../../src/kernel/nftables/values/userData.js';
import { bytesOf, readValue } from '../../../../src/kernel/nftables/values/values.js';
import { layoutOf, numberOfTypes, typesOfNumber } from '../../../../src/kernel/nftables/values/valueTypes.js';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytes = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));
/** 32 bits in the machine's byte order. */
const host = (number: string) =>
  endianness() === 'LE' ? (number.match(/../g) ?? []).reverse().join('') : number;

const VALUES: readonly [types: ValueTypes, value: ElementValue, bytes: string][] = [
  ['ipv4_addr', '10.96.10.1', '0a600a01'],
  ['ipv6_addr', 'fd00::1', 'fd000000000000000000000000000001'],
  ['ipv6_addr', '::ffff:10.0.0.1', '00000000000000000000ffff0a000001'],
  ['ether_addr', '01:02:03:0a:05:ff', '0102030a05ff'],
  ['ether_type', 'ip6', '86dd'],
  ['inet_proto', 'tcp', '06'],
  ['inet_proto', 200, 'c8'],
  ['inet_service', 8080, '1f90'],
  ['mark', 0x4000, host('00004000')],
  ['mark', 0xffff_ffff, 'ffffffff'],
  ['ifname', 'eth0', '65746830000000000000000000000000'],
  ['iface_index', 1, host('00000001')],
  ['ct_state', 'new', host('00000008')],
  ['ct_state', 10, host('0000000a')],
  ['ct_status', 'dnat', host('00000020')],
  ['fib_addrtype', 'local', host('00000002')],
  ['icmp_type', 'echo-request', '08'],
  ['icmpv6_type', 'nd-neighbor-solicit', '87'],
  ['boolean', 'exists', '01'],
  ['integer', 1, host('00000001')],
  ['integer8', 5, '05'],
  ['integer16', 258, '0102'],
  ['integer24', 0x01_02_03, '010203'],
  ['integer64', 5, '0000000000000005'],
  ['integer64', '0xffffffffffffff00', 'ffffffffffffff00'],
  ['integer128', '0x0e373135363130333131303735353203', '0e373135363130333131303735353203'],
  ['iface_type', 'ppp', host('0200')],
  ['dscp', 'af23', '16'],
  ['arp_op', 'reply', '0002'],
  ['time', 5000, host('00001388')],
  ['classid', 0x1_0002, host('00010002')],
  [['ipv4_addr', 'inet_proto', 'inet_service'], ['10.96.10.1', 'tcp', 80], '0a600a01 06000000 00500000'],
  [['inet_proto', 'inet_service'], ['udp', 53], '11000000 00350000'],
  [['ipv4_addr', 'inet_service'], ['10.1.1.1', 8080], '0a010101 1f900000'],
  [
    ['ipv6_addr', 'inet_proto', 'inet_service'],
    ['fd00::a', 'sctp', 9],
    'fd00000000000000000000000000000a 84000000 00090000',
  ],
];

for (const [types, value, expected] of VALUES) {
  it(`${[types].flat().join(' . ')} ${[value].flat().join(' . ')} is ${expected}, and reads back`, () => {
    const written = bytesOf(types, value);
    assert.equal(hex(written), expected.replaceAll(' ', ''));
    assert.deepEqual(readValue(layoutOf(types), written), value);
    assert.deepEqual(bytesOf(types, written), written);
    assert.deepEqual(typesOfNumber(numberOfTypes(types), written.length), types);
  });
}

it('numbers of intervals are in network order, so that the kernel can compare them', () => {
  assert.equal(hex(bytesOf('mark', 5)), host('00000005'));
  assert.deepEqual(readValue(layoutOf('iface_type', true), bytes('0200')), 'ppp');
  assert.deepEqual(readValue(layoutOf('mark', true), bytes('00000005')), 5);
  assert.deepEqual(readValue(layoutOf(['mark', 'inet_service'], true), bytes('00000005 00500000')), [5, 80]);
});

it('types of concatenations have 6 bits each', () => {
  assert.equal(numberOfTypes(['ipv4_addr', 'inet_proto', 'inet_service']), 0x730d);
  assert.equal(numberOfTypes(['ipv6_addr', 'inet_proto', 'inet_service']), 0x830d);
  assert.equal(numberOfTypes(['ipv4_addr', 'ipv4_addr', 'inet_proto', 'inet_service']), 0x1c730d);
  assert.equal(numberOfTypes(['ipv4_addr', 'inet_proto', 'inet_service', 'integer']), 0x1cc344);
  assert.equal(typesOfNumber(0x730d, 12)?.length, 3);
  assert.equal(typesOfNumber(0x730d, 16), undefined, 'another length');
  assert.equal(typesOfNumber(46, 8), undefined, 'cgroupv2, which is unknown here');
  assert.equal(typesOfNumber(0, 4), undefined);
});

const INVALID: readonly [types: ValueTypes, value: unknown, rule: RegExp][] = [
  ['ipv4_addr', 'fd00::1', /must be an IPv4 address/],
  ['ipv4_addr', 1, /must be an IPv4 address/],
  ['ipv4_addr', ['10.0.0.1'], /must be an IPv4 address, or 4 bytes/],
  ['ipv6_addr', '10.0.0.1', /must be an IPv6 address/],
  ['ether_addr', '1:2:3', /hardware address/],
  ['inet_service', 65536, /an integer from 0 to 65535/],
  ['inet_service', -1, /an integer from 0 to 65535/],
  ['inet_service', 'http', /an integer from 0 to 65535/],
  ['inet_proto', 'nothing', /one of .*tcp/],
  ['mark', 1.5, /an integer from 0 to 4294967295/],
  ['mark', 2 ** 32, /an integer from 0 to 4294967295/],
  ['ifname', 'x'.repeat(16), /1 to 15 bytes/],
  ['ifname', 'éééééééé', /1 to 15 bytes/],
  ['ifname', 'a\0', /1 to 15 bytes/],
  ['ipv4_addr', new Uint8Array(3), /or 4 bytes/],
  [
    ['ipv4_addr', 'inet_service'],
    ['10.0.0.1'],
    /must be a list of 2 values: ipv4_addr, inet_service, or 8 bytes/,
  ],
  [['ipv4_addr', 'inet_service'], '10.0.0.1', /must be a list of 2 values/],
  [['ipv4_addr', 'inet_service'], ['10.0.0.1', '80'], /an integer from 0 to 65535/],
];

for (const [types, value, rule] of INVALID) {
  it(`${[types].flat().join(' . ')} refuses ${JSON.stringify(value)}`, () => {
    assert.throws(() => bytesOf(types, value as ElementValue), { name: 'RangeError', message: rule });
  });
}

const KEYS: readonly [expressions: readonly KeyExpression[], userData: string][] = [
  [['ip daddr'], '0314 0004 07000000 010c 0004 0c000000 0104 0c000000'],
  [['ip6 nexthdr'], '0314 0004 07000000 010c 0004 0d000000 0104 06000000'],
  [['udp sport'], '0314 0004 07000000 010c 0004 06000000 0104 01000000'],
  [['meta oifname'], '030e 0004 09000000 0106 0004 07000000'],
  [['numgen inc mod 3000000000'], '031a 0004 17000000 0112 0004 00000000 0104 005ed0b2 0204 00000000'],
  [
    ['ip daddr', 'meta l4proto', 'th dport', 'numgen random mod 2'],
    `0360 0004 0d000000 0158 0014 0004 07000000 010c 0004 0c000000 0104 0c000000 010e 0004 09000000 0106 0004 10000000
     0214 0004 07000000 010c 0004 0b000000 0104 02000000 031a 0004 17000000 0112 0004 01000000 0104 02000000 0204 00000000`,
  ],
];

for (const [expressions, expected] of KEYS) {
  it(`typeof ${expressions.join(' . ')} is user data as of nft`, () => {
    const written = writeUserData([writeKeyExpressions(SET_UDATA.keyTypeof, expressions)]);
    assert.equal(hex(written), expected.replaceAll(/\s/g, ''));
    const [datum] = readUserData(written) ?? [];
    assert.ok(datum);
    assert.deepEqual(readKeyExpressions(datum), expressions);
  });
}

it('user data that is cut off, or has more than a comment, is no comment', () => {
  const comment = writeUserData([textDatum(0, 'für alle')]);
  assert.deepEqual(commentIn(comment), { comment: 'für alle' });
  assert.deepEqual(commentIn(comment.subarray(0, -1)), { userData: comment.subarray(0, -1) });
  assert.deepEqual(commentIn(bytes('00020041')), { userData: bytes('00020041') }, 'a zero within');
  assert.deepEqual(commentIn(bytes('0002ff00')), { userData: bytes('0002ff00') }, 'no UTF-8');
  assert.deepEqual(commentIn(bytes('00024100 0000')), { comment: 'A', userData: bytes('0000') });
  assert.deepEqual(commentIn(new Uint8Array()), {});
});

it('the layout of types does not change with the list that it was asked for, and differs by list and interval', () => {
  const types: ['integer', 'inet_service'] = ['integer', 'inet_service'];
  const layout = layoutOf(types);
  (types as string[])[0] = 'ipv6_addr';
  assert.deepEqual(layoutOf(['integer', 'inet_service']), layout);
  assert.equal(layoutOf(types).length, 20);
  assert.notDeepEqual(layoutOf(['integer', 'inet_service'], true), layout);
  assert.notDeepEqual(layoutOf('integer', true), layoutOf('integer'));
  const [one, list] = [layoutOf('integer'), layoutOf(['integer'] as unknown as ValueTypes)];
  assert.deepEqual([one.isConcatenation, list.isConcatenation], [false, true]);
});

it('reads a value within other bytes', () => {
  for (const [types, value, text] of VALUES) {
    const around = bytes(`ffff ${text} ffff`);
    const { length } = bytes(text);
    const read = readValue(layoutOf(types), around, 2, length);
    assert.deepEqual(read, readValue(layoutOf(types), bytes(text)), `${types} ${value}`);
    assert.deepEqual(readValue(layoutOf(types), around, 2, length + 1), around.slice(2, 3 + length));
  }
});
