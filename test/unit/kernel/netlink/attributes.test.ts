// Attributes: written and read in every form, and refused when they are invalid.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Attribute, AttributeReader } from '../../../../src/kernel/netlink/attributeReader.js';
import { AttributeWriter, NLA_F_NET_BYTEORDER } from '../../../../src/kernel/netlink/attributeWriter.js';
import { readMessages } from '../../../../src/kernel/netlink/messages.js';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const only = (payload: Uint8Array) => [...new AttributeReader(payload)][0] ?? assert.fail('no attribute');

test('values have the layout of struct nlattr, with padding', () => {
  assert.equal(hex(new AttributeWriter().u8(1, 0xab).payload()), '05000100ab000000');
  assert.equal(
    hex(new AttributeWriter().u16(2, 0x1234).u16be(2, 0x1234).payload()),
    '06000200341200000600020012340000',
  );
  assert.equal(
    hex(new AttributeWriter().u32(3, 1).u32be(3, 1).payload()),
    '08000300010000000800030000000001',
  );
  assert.equal(hex(new AttributeWriter().u64(4, 1n).payload()), '0c0004000100000000000000');
  assert.equal(hex(new AttributeWriter().u64be(4, 1n).payload()), '0c0004000000000000000001');
  assert.equal(hex(new AttributeWriter().text(5, 'lo').payload()), '070005006c6f0000');
  assert.equal(hex(new AttributeWriter().address(6, '10.0.0.1').payload()), '080006000a000001');
  assert.equal(hex(new AttributeWriter().flag(7).payload()), '04000700');
  assert.equal(
    hex(new AttributeWriter(Uint8Array.of(9)).flag(7 | NLA_F_NET_BYTEORDER).payload()),
    '0900000004000740',
  );
  const nested = new AttributeWriter()
    .nested(1, (inner) => inner.u8(2, 3))
    .u8(4, 5)
    .payload();
  assert.equal(hex(nested), '0c000180' + '0500020003000000' + '0500040005000000');
});

test('signed numbers are written and read, with the bounds of their widths', () => {
  assert.equal(hex(new AttributeWriter().i8(1, -2).i16(2, -2).payload()), '05000100fe00000006000200feff0000');
  assert.equal(hex(new AttributeWriter().i32(3, -2).payload()), '08000300feffffff');
  assert.equal(hex(new AttributeWriter().i64(4, -2n).payload()), '0c000400feffffffffffffff');
  const smallest = new AttributeWriter()
    .i8(1, -128)
    .i16(2, -(2 ** 15))
    .i32(3, -(2 ** 31))
    .i64(4, -(2n ** 63n))
    .payload();
  const largest = new AttributeWriter()
    .i8(1, 127)
    .i16(2, 2 ** 15 - 1)
    .i32(3, 2 ** 31 - 1)
    .i64(4, 2n ** 63n - 1n)
    .payload();
  const read = (payload: Uint8Array) => {
    const [i8, i16, i32, i64] = new AttributeReader(payload);
    return [i8?.i8(), i16?.i16(), i32?.i32(), i64?.i64()];
  };
  assert.deepEqual(read(smallest), [-128, -(2 ** 15), -(2 ** 31), -(2n ** 63n)]);
  assert.deepEqual(read(largest), [127, 2 ** 15 - 1, 2 ** 31 - 1, 2n ** 63n - 1n]);
});

test('what is written is read', () => {
  const payload = new AttributeWriter(new Uint8Array(6))
    .u8(1, 255)
    .u16(2, 65535)
    .u32(3, 2 ** 32 - 1)
    .u64(4, 2n ** 64n - 1n)
    .u16be(5, 80)
    .u32be(6, 7)
    .u64be(7, 8n)
    .text(8, 'grün')
    .bytes(9, Uint8Array.of(1, 2, 3))
    .address(10, 'fd00::1')
    .nested(11, (inner) => inner.text(1, 'a').nested(2, (most) => most.u8(3, 4)))
    .payload();
  const [u8, u16, u32, u64, u16be, u32be, u64be, text, bytes, address, nested] = new AttributeReader(
    payload,
    { offset: 6 },
  );
  assert.deepEqual([u8?.u8(), u16?.u16(), u32?.u32(), u64?.u64()], [255, 65535, 2 ** 32 - 1, 2n ** 64n - 1n]);
  assert.deepEqual([u16be?.u16be(), u32be?.u32be(), u64be?.u64be()], [80, 7, 8n]);
  assert.deepEqual(
    [text?.text(), bytes?.bytes(), address?.address()],
    ['grün', Uint8Array.of(1, 2, 3), 'fd00::1'],
  );
  assert.deepEqual([bytes?.size, nested?.type], [3, 11]);
  const [a, b] = nested?.nested() ?? [];
  assert.equal(a?.text(), 'a');
  assert.equal([...(b?.nested() ?? [])][0]?.u8(), 4);
});

test('the bytes of an attribute, and payloads of messages, share no memory with a reply that is a Buffer', () => {
  const payload = new AttributeWriter().u32(1, 7).payload();
  const reply = Buffer.concat([Buffer.from('18000000100000000000000000000000', 'hex'), payload]);
  const message = [...readMessages(reply)][0] ?? assert.fail();
  const [attribute] = new AttributeReader(message.payload);
  const bytes = attribute?.bytes() ?? assert.fail();
  const copy = message.payload.slice();
  reply.fill(0xff);
  assert.equal(hex(bytes), '07000000');
  assert.equal(hex(copy), hex(payload));
  assert.ok(!Buffer.isBuffer(message.payload) && !Buffer.isBuffer(bytes));
  const own = only(new AttributeWriter().bytes(1, Buffer.from('abcd')).payload()).bytes();
  own.fill(0);
  assert.equal(hex(own), '00000000');
});

test('very many attributes enlarge the buffer', () => {
  const writer = new AttributeWriter();
  for (let i = 0; i < 5000; i++) writer.u32(1, i);
  const values = [...new AttributeReader(writer.payload())].map((attribute) => attribute.u32());
  assert.deepEqual(
    values,
    Array.from({ length: 5000 }, (_, i) => i),
  );
});

test('an invalid value is refused with its attribute, and nothing is written', () => {
  const writer = new AttributeWriter();
  const refusals: [(to: AttributeWriter) => unknown, RegExp][] = [
    [(to) => to.u8(1, 256), /^RangeError: attribute 1 \(u8\) must be an integer from 0 to 255, found 256$/],
    [(to) => to.u16(2, -1), /attribute 2 \(u16\) must be an integer from 0 to 65535, found -1/],
    [(to) => to.u32(3, 1.5), /attribute 3 \(u32\) must be an integer from 0 to 4294967295, found 1.5/],
    [(to) => to.u32(3, Number.NaN), /attribute 3/],
    [(to) => to.u32(3, '1' as never), /^TypeError: attribute 3 \(u32\) must be a number, found '1'$/],
    [(to) => to.u64(4, 1 as never), /^TypeError: attribute 4 \(u64\) must be a bigint, found 1$/],
    [(to) => to.u64(4, 2n ** 64n), /attribute 4 \(u64\) must be an integer from 0 to 18446744073709551615/],
    [(to) => to.i8(4, -129), /attribute 4 \(i8\) must be an integer from -128 to 127, found -129/],
    [(to) => to.i16(4, 32_768), /attribute 4 \(i16\) must be an integer from -32768 to 32767, found 32768/],
    [(to) => to.i32(4, 2 ** 31), /attribute 4 \(i32\) must be an integer from -2147483648 to 2147483647/],
    [(to) => to.i64(4, 2n ** 63n), /attribute 4 \(i64\) must be an integer from -9223372036854775808 to/],
    [(to) => to.i64(4, -(2n ** 63n) - 1n), /attribute 4 \(i64\) must be an integer/],
    [(to) => to.i64(4, 1 as never), /^TypeError: attribute 4 \(i64\) must be a bigint, found 1$/],
    [(to) => to.text(5, 'a\0b'), /attribute 5 \(text\) must have no zero/],
    [(to) => to.text(5, 1 as never), /^TypeError: attribute 5/],
    [(to) => to.bytes(6, [1] as never), /^TypeError: attribute 6 \(bytes\) must be a Uint8Array/],
    [
      (to) => to.bytes(6, new Uint8Array(65_532)),
      /attribute 6 \(length\) must be at most 65531 bytes, found 65532/,
    ],
    [(to) => to.address(7, '10.0.0'), /attribute 7 \(address\) must be an IP address, found '10.0.0'/],
    [(to) => to.address(7, 7 as never), /^TypeError: attribute 7 \(address\)/],
    ...[Number.NaN, -1, 1.5, 2 ** 53].map((type): [(to: AttributeWriter) => unknown, RegExp] => [
      (to) => to.nested(type, () => {}),
      /^RangeError: attribute \S+ \(type\) must be an integer from 0 to 65535/,
    ]),
    ...[undefined, null, '5', 5n, Symbol('x'), {}].map((type): [(to: AttributeWriter) => unknown, RegExp] => [
      (to) => to.nested(type as never, () => {}),
      /^TypeError: attribute .* \(type\) must be an integer from 0 to 65535/,
    ]),
    [(to) => to.nested(8, 5 as never), /^TypeError: attribute 8 \(nested\) must be a function, found 5$/],
    [
      (to) => to.nested(8, async () => {}),
      /^TypeError: attribute 8 \(nested\) must be a function that is not async/,
    ],
    [() => new AttributeWriter([1] as never), /^TypeError: header must be a Uint8Array/],
    [(to) => to.flag(65_536), /attribute 65536 \(type\) must be an integer from 0 to 65535/],
    [(to) => to.nested(8, (inner) => inner.nested(2, (most) => most.u8(3, 300))), /attribute 8, 2, 3 \(u8\)/],
    [(to) => to.nested(8, (inner) => inner.bytes(1, new Uint8Array(65_530))), /attribute 8 |attribute 32776/],
  ];
  for (const [write, pattern] of refusals) {
    assert.throws(
      () => write(writer),
      (error) => pattern.test(String(error)) || assert.fail(String(error)),
    );
  }
  assert.equal(writer.payload().length, 0);
  writer.bytes(1, new Uint8Array(65_531));
});

test('attributes that break a rule are an error that names them', () => {
  const refusals: [() => unknown, RegExp][] = [
    [() => [...new AttributeReader(Uint8Array.of(5, 0))], /attribute: 2 bytes are too few for an attribute/],
    [
      () => [...new AttributeReader(Uint8Array.of(3, 0, 1, 0))],
      /attribute 1: length 3, of 4 bytes that are left/,
    ],
    [() => [...new AttributeReader(Uint8Array.of(9, 0, 1, 0, 0, 0, 0, 0))], /attribute 1: length 9, of 8/],
    [() => [...new AttributeReader(Uint8Array.of(0, 0, 0, 0))], /attribute 0: length 0/],
    [() => new AttributeReader(new Uint8Array(3), { offset: 4 }), /header of 4 bytes: the message has 3/],
    [
      () => only(new AttributeWriter().u8(1, 1).payload()).u16(),
      /attribute 1: the value has 1 bytes, expected 2/,
    ],
    [
      () => only(new AttributeWriter().u8(1, 1).payload()).i32(),
      /attribute 1: the value has 1 bytes, expected 4/,
    ],
    [
      () => only(new AttributeWriter().u32(2, 1).payload()).u64(),
      /attribute 2: the value has 4 bytes, expected 8/,
    ],
    [
      () => only(new AttributeWriter().u8(3, 1).payload()).address(),
      /attribute 3: the value has 1 bytes, expected 4 or 16/,
    ],
    [
      () => [...only(new AttributeWriter().nested(4, (in_) => in_.u8(5, 1)).payload()).nested()][0]?.u32(),
      /attribute 4, 5: /,
    ],
  ];
  for (const [read, pattern] of refusals) {
    assert.throws(
      read,
      (error: Error & { code?: string }) =>
        error.code === 'ERR_MALFORMED_REPLY' && pattern.test(error.message),
    );
  }
  assert.throws(() => [...new AttributeReader(Uint8Array.of(5, 0), { operation: 'route.list' })], {
    operation: 'route.list',
  });
});

test('a wrong argument of a reader is named', () => {
  const refusals: [() => unknown, RegExp][] = [
    [
      () => new AttributeReader([1] as never),
      /^TypeError: netlink\.AttributeReader: payload must be a Uint8Array/,
    ],
    [() => new AttributeReader(undefined as never), /payload must be a Uint8Array/],
    [() => new AttributeReader(new Uint8Array(), null as never), /place must be an object/],
    [() => new AttributeReader(new Uint8Array(), { ofset: 4 } as never), /ofset is not an option/],
    [() => new AttributeReader(new Uint8Array(), { offset: '4' as never }), /offset must be an integer/],
    [() => new AttributeReader(new Uint8Array(), { offset: Number.NaN }), /offset must be an integer/],
    [() => new AttributeReader(new Uint8Array(), { operation: 5 as never }), /operation must be a text/],
    [() => new Attribute(-1, new Uint8Array(), 'x', 'y'), /netlink\.Attribute: type must be an integer/],
    [() => new Attribute(1, 'x' as never, 'x', 'y'), /netlink\.Attribute: value must be a Uint8Array/],
  ];
  for (const [make, pattern] of refusals) {
    assert.throws(make, (error) => pattern.test(String(error)) || assert.fail(String(error)));
  }
});

test('no bytes make the reader read beyond them, loop, or throw another error', () => {
  let state = 1;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff;
    return state >> 8;
  };
  let read = 0;
  for (let round = 0; round < 20_000; round++) {
    const bytes = Uint8Array.from({ length: random() % 40 }, () => random() % (round % 3 === 0 ? 256 : 12));
    try {
      for (const attribute of new AttributeReader(bytes)) {
        read += 1;
        for (const inner of attribute.nested()) inner.u32();
      }
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'ERR_MALFORMED_REPLY', String(error));
    }
  }
  assert.ok(read > 500, `${read} attributes`);
});
