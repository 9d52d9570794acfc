// Elements of sets that cannot change: each is checked once, and written as any other.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { OperationEncoder } from '../../../../src/kernel/nftables/encode/operations.js';
import type { NewElement, NftablesOperation, SetName } from '../../../../src/kernel/nftables/types.js';
import { ByteWriter } from '../../../../src/kernel/shared/wire/byteWriter.js';

const KEY = ['ipv4_addr', 'inet_proto', 'inet_service'] as const;
const SET: SetName = { family: 'ip', table: 't', name: 's', key: KEY, data: 'verdict' };
const ELEMENT: NewElement = { key: ['10.0.0.1', 'tcp', 80], data: { verdict: 'drop' } };

/** The bytes of an operation. */
function written(operation: NftablesOperation): string {
  const writer = new ByteWriter();
  assert.equal(new OperationEncoder(writer).write(operation), undefined);
  return writer.written().toString('hex');
}

/** The invalid field of an addition of elements to a set. */
function fieldOf(set: unknown, element: NewElement = ELEMENT): string | undefined {
  const encoder = new OperationEncoder(new ByteWriter());
  return encoder.write({ do: 'addElements', set: set as SetName, elements: [element] })?.field;
}

it('writes elements of a set that cannot change as those of any other, also the second time', () => {
  const set: SetName = Object.freeze({ ...SET, key: Object.freeze([...KEY] as const) });
  const elements = [{ key: ELEMENT.key }];
  for (let time = 0; time < 2; time++) {
    for (const operation of [
      { do: 'addElements', set: SET, elements: [ELEMENT] },
      { do: 'addElements', set: SET, elements: [ELEMENT], exclusive: true },
      { do: 'deleteElements', set: SET, elements },
      { do: 'deleteElements', set: SET, elements, ifExists: true },
    ] as const) {
      assert.equal(written({ ...operation, set } as NftablesOperation), written(operation));
    }
  }
});

it('checks the elements of such a set', () => {
  const set = Object.freeze({ ...SET, key: Object.freeze([...KEY]) });
  assert.equal(fieldOf(set), undefined);
  assert.equal(fieldOf(set, { ...ELEMENT, key: ['10.0.0.1', 'tcp', 65_536] }), 'elements[0].key[2]');
});

it('checks a set again that can have changed, as a whole or in a field', () => {
  for (const freeze of [<T>(value: T) => value, Object.freeze]) {
    const key: string[] = [...KEY];
    const set = freeze({ ...SET, key });
    assert.equal(fieldOf(set), undefined);
    key[1] = 'none';
    assert.equal(fieldOf(set), 'set.key');
  }
  const set = { ...SET, key: Object.freeze([...KEY]) };
  assert.equal(fieldOf(set), undefined);
  assert.equal(fieldOf(Object.assign(set, { name: '' })), 'set.name');
});

it('refuses an invalid set each time', () => {
  for (const [field, value] of [
    ['name', ''],
    ['table', 'a\0b'],
    ['family', 'none'],
    ['key', 'none'],
  ] as const) {
    const set = Object.freeze({ ...SET, key: Object.freeze([...KEY]), [field]: value });
    for (let time = 0; time < 2; time++) assert.equal(fieldOf(set), `set.${field}`);
  }
});
