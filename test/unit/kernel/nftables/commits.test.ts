// Notifications → commits: the tables of each, whatever the messages have beside them and wherever a piece ends.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import { commitReader } from '../../../../src/kernel/nftables/decode/commits.js';
import { FAMILIES, GENERATION, MESSAGE, SUBSYSTEM } from '../../../../src/kernel/nftables/numbers.js';
import { ByteWriter } from '../../../../src/kernel/shared/wire/byteWriter.js';

type Attribute = readonly [type: number, text: string];

/** A message of nf_tables with these attributes; `text` of the generation is ignored. */
function message(
  type: number,
  family: number,
  attributes: readonly Attribute[],
  subsystem = SUBSYSTEM,
): Buffer {
  const payload = new ByteWriter().u8(family).zeros(3);
  for (const [attribute, text] of attributes)
    payload.put(attribute, () => payload.bytes(Buffer.from(`${text}\0`)));
  return new ByteWriter()
    .u32(16 + payload.length)
    .u16((subsystem << 8) | type)
    .u16(0)
    .zeros(8)
    .bytes(payload.written())
    .written();
}

function generation(id: number): Buffer {
  const payload = new ByteWriter().zeros(4);
  payload.put(GENERATION.id, () => payload.u32be(id));
  payload.put(GENERATION.pid, () => payload.u32be(7));
  payload.put(GENERATION.program, () => payload.bytes(Buffer.from('nft\0')));
  return new ByteWriter()
    .u32(16 + payload.length)
    .u16((SUBSYSTEM << 8) | MESSAGE.newGeneration)
    .u16(0)
    .zeros(8)
    .bytes(payload.written())
    .written();
}

const { ip, ip6 } = FAMILIES;
const elements = (family: number, table: string) =>
  message(MESSAGE.newElements, family, [
    [1, table],
    [2, 's'],
  ]);

/** The commits in pieces of notifications: `1: ip a, ip6 a`. */
function commitsIn(...pieces: readonly (readonly Buffer[])[]): string[] {
  const read = commitReader();
  return pieces.flatMap((piece) =>
    [...read(Buffer.concat(piece))].map(({ generation: { id }, tables }) => {
      return `${id}: ${tables.map(({ family, name }) => `${family} ${name}`).join(', ')}`;
    }),
  );
}

it('names each table of a transaction once, in the order of their first messages', () => {
  const messages = ['a', 'a', 'b', 'a', 'ab', 'a'].map((table) => elements(ip, table));
  assert.deepEqual(commitsIn([...messages, elements(ip6, 'a'), elements(ip6, 'a'), generation(1)]), [
    '1: ip a, ip b, ip ab, ip6 a',
  ]);
});

it('begins anew with each transaction, also with the same table', () => {
  const own = [elements(ip, 'a'), elements(ip, 'a')];
  assert.deepEqual(commitsIn([...own, generation(1), ...own, generation(2), generation(3)]), [
    '1: ip a',
    '2: ip a',
    '3: ',
  ]);
});

it('goes on with a transaction in the next piece', () => {
  const [a, b] = [elements(ip, 'a'), elements(ip, 'b')];
  assert.deepEqual(commitsIn([a, a], [a, b], [b, generation(1), b], [generation(2)]), [
    '1: ip a, ip b',
    '2: ip b',
  ]);
});

it('finds the name of the table behind other attributes, and leaves out messages of other subsystems', () => {
  const late = message(MESSAGE.newElements, ip, [
    [2, 's'],
    [1, 'a'],
  ]);
  const other = message(MESSAGE.newElements, ip, [[1, 'other']], SUBSYSTEM + 1);
  const later = message(MESSAGE.newSet, ip, [
    [2, 's'],
    [1, 'c'],
  ]);
  assert.deepEqual(commitsIn([late, other, late, later, late, generation(1)]), ['1: ip a, ip c']);
});

it('refuses a message without the name of a table, and one that is cut off', () => {
  const malformed = (piece: Buffer) => {
    assert.throws(
      () => commitsIn([elements(ip, 'a'), piece]),
      (error) => error instanceof NetlinkError && error.code === 'ERR_MALFORMED_REPLY',
    );
  };
  malformed(message(MESSAGE.newElements, ip, [[2, 's']]));
  malformed(elements(ip, 'a').subarray(0, 20));
});
