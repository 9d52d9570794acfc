// The writer of records: every field is written to its place, and an invalid value is a fault.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeOperation } from '../../../../src/kernel/ipvs/operations.js';
import { readListing } from '../../../../src/kernel/ipvs/records.js';
import { parseAddressAsIs } from '../../../../src/kernel/net/address.js';
import { describeInvalid } from '../../../../src/kernel/shared/arguments.js';
import { readAll } from '../../../../src/kernel/shared/listing.js';
import { address, layout, text, u8, u16, u32, unused } from '../../../../src/kernel/shared/records/layout.js';
import { RecordWriter } from '../../../../src/kernel/shared/records/recordWriter.js';
import { server, service } from '../../../support/tables/ipvs.js';

const NUMBERS = layout({ first: u8, unused: unused(1), second: u16, third: u32 });
const NAMED = layout({ unused: unused(1), name: text(5) });
const BYTES = layout({ first: u8, second: u8 });
const WORD = layout({ whole: u32 });
const { name: SHORT } = layout({ name: text(4) });
const { address: ADDRESS } = layout({ address });
const { address: BEHIND } = layout({ unused: unused(2), address });

test('values are written little-endian, in records one after another', () => {
  const writer = new RecordWriter(8, 3);
  writer.u8(NUMBERS.first, 1);
  writer.u16(NUMBERS.second, 0x0203);
  writer.u32(NUMBERS.third, 0x04050607);
  assert.equal(writer.finish(), undefined);
  writer.text('name', 'rr', NAMED.name);
  assert.equal(writer.finish(), undefined);
  assert.deepEqual([...writer.records()], [1, 0, 3, 2, 7, 6, 5, 4, 0, 114, 114, 0, 0, 0, 0, 0]);
});

test('a record with a fault is taken back, and leaves nothing for the next', () => {
  const writer = new RecordWriter(4, 2);
  writer.u32(WORD.whole, 0xffff_ffff);
  writer.fail('first', 1, 'must be 2');
  writer.fail('second', 1, 'must be 3');
  const fault = writer.finish() ?? assert.fail();
  assert.equal(describeInvalid(fault), 'first must be 2, found 1');
  writer.u8(BYTES.second, 9);
  assert.equal(writer.finish(), undefined);
  assert.deepEqual([...writer.records()], [0, 9, 0, 0]);
});

const rules: readonly (readonly [string, (writer: RecordWriter) => void, string])[] = [
  ['integer', (w) => w.integer('f', 5, 0, 4), 'f must be an integer from 0 to 4, found 5'],
  ['NaN', (w) => w.integer('f', Number.NaN, 0, 4), 'f must be an integer from 0 to 4, found NaN'],
  ['bigint', (w) => w.integer('f', 1n, 0, 4), 'f must be an integer from 0 to 4, found 1n'],
  ['missing', (w) => w.integer('f', undefined, 0, 4), 'f must be an integer from 0 to 4, found undefined'],
  ['choice', (w) => w.choice('f', 'c', { a: 1, b: 2 }), "f must be one of a, b, found 'c'"],
  ['inherited', (w) => w.choice('f', 'toString', { a: 1 }), "f must be one of a, found 'toString'"],
  ['text', (w) => w.text('f', 'abcd', SHORT), "f must be a name of 1 to 3 bytes, found 'abcd'"],
  ['letters of two bytes', (w) => w.text('f', 'éé', SHORT), "f must be a name of 1 to 3 bytes, found 'éé'"],
  ['NUL', (w) => w.text('f', 'a\0', SHORT), "f must be a name of 1 to 3 bytes, found 'a\\x00'"],
  ['address', (w) => w.address('f', '10.0.0', ADDRESS), "f must be an IPv4 or IPv6 address, found '10.0.0'"],
  ['no text', (w) => w.address('f', { a: 1 }, ADDRESS), 'f must be an IPv4 or IPv6 address, found { a: 1 }'],
];

for (const [name, write, described] of rules) {
  test(`rule: ${name}`, () => {
    const writer = new RecordWriter(16, 1);
    write(writer);
    assert.equal(describeInvalid(writer.finish() ?? assert.fail()), described);
    assert.equal(writer.records().length, 0);
  });
}

const addresses = [
  ...['10.0.0.1', '0.0.0.0', '255.255.255.255', '010.0.0.001', '0000.0.0.1', '256.0.0.1', '999.0.0.1'],
  ...[
    '1.2.3',
    '1.2.3.',
    '.1.2.3',
    '1..2.3',
    '1.2.3.4.',
    '1.2.3.4.5',
    ' 1.2.3.4',
    '1.2.3.4 ',
    '1.2.3.+4',
    '1,2.3.4',
  ],
  ...['', '1', 'fd00::1', '::', '::ffff:10.0.0.1', '1.2.3.4::', 'fe80::1%eth0', '/.0.0.0', '1.2.3.:'],
];

test('addresses are read as net/address.ts reads them', () => {
  for (const text of addresses) {
    const writer = new RecordWriter(20, 1);
    const family = writer.address('f', text, BEHIND);
    const expected = parseAddressAsIs(text);
    assert.equal(writer.finish() === undefined, expected !== undefined, text);
    if (!expected) continue;
    assert.equal(family, expected.length === 4 ? 4 : 6);
    assert.deepEqual([...writer.records().subarray(2, 2 + expected.length)], [...expected], text);
    assert.ok(
      writer
        .records()
        .subarray(2 + expected.length)
        .every((byte) => byte === 0),
      text,
    );
  }
});

test('an IPVS operation is packed byte for byte', () => {
  const writer = new RecordWriter(124, 1);
  const parent = service({ protocol: 'udp', port: 53 });
  const child = server({ weight: 0x01020304, upperThreshold: 7, lowerThreshold: 6 });
  writeOperation({ do: 'addRealServer', service: parent, realServer: child }, writer);
  assert.equal(writer.finish(), undefined);
  const expected = new Uint8Array(124);
  expected[0] = 5;
  expected.set([4, 0, 17, 0, 53, 0], 8);
  expected.set([10, 96, 0, 1], 8 + 12);
  expected.set([4, 0, 0x2b, 0x19, 4, 3, 2, 1, 7, 0, 0, 0, 6], 84);
  expected.set([10, 0, 0, 4], 84 + 24);
  assert.deepEqual([...writer.records()], [...expected]);
});

test('an empty listing', async () => {
  assert.deepEqual(await readAll(readListing(new Uint8Array())), []);
});
