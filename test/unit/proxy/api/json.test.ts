// Streams of JSON, in whatever pieces they come.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LineReader, ListReader } from '../../../../src/proxy/api/json.js';

/** The bytes of a text in pieces of one size. */
function* pieces(text: string, size: number): Generator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Sizes from a byte to everything. */
const SIZES = [1, 2, 3, 7, 64, 1 << 20];

describe('a list', () => {
  const read = (text: string, size: number) => {
    const reader = new ListReader('list');
    const items: unknown[] = [];
    for (const piece of pieces(text, size)) items.push(...reader.push(piece));
    return { items, rest: reader.end() };
  };

  const items = [
    { metadata: { name: 'ä€𝒳', labels: { 'a"b\\': 'x]}"' } }, list: [[], [{}], 'items'] },
    { items: [{ items: [1] }] },
    {},
  ];
  const rest = { kind: 'L', apiVersion: 'items', metadata: { resourceVersion: '7', items: [1] } };
  const texts: [what: string, text: string, items: unknown[]][] = [
    ['items last', JSON.stringify({ ...rest, items }), items],
    ['items first', JSON.stringify({ items, ...rest }), items],
    ['with space', JSON.stringify({ ...rest, items }, null, 2), items],
    ['without items', JSON.stringify({ ...rest, items: [] }), []],
  ];
  for (const [what, text, expected] of texts) {
    it(`${what}, cut anywhere`, () => {
      for (const size of SIZES) {
        const result = read(text, size);
        assert.deepEqual(result.items, expected, `pieces of ${size}`);
        assert.deepEqual(result.rest, { ...rest, items: [] });
      }
    });
  }

  it('whose items are null has none', () => {
    assert.deepEqual(read('{"metadata":{"resourceVersion":"1"},"items":null}', 5).items, []);
  });

  it('other lists of its own are not items', () => {
    const text = '{"not":[{"a":1}],"items":[{"b":2}],"nor":[{"c":3}]}';
    for (const size of SIZES) {
      assert.deepEqual(read(text, size), {
        items: [{ b: 2 }],
        rest: { not: [{ a: 1 }], items: [], nor: [{ c: 3 }] },
      });
    }
  });

  it('that is cut off, or is none, is refused', () => {
    const whole = JSON.stringify({ ...rest, items });
    for (let length = 0; length < Buffer.byteLength(whole); length++) {
      const cut = Buffer.from(whole).subarray(0, length);
      const reader = new ListReader('list');
      assert.throws(
        () => {
          for (const _ of reader.push(cut)) {
            // Items before the cut may be good.
          }
          reader.end();
        },
        { code: 'ERR_MALFORMED' },
        `cut at ${length}`,
      );
    }
    for (const text of [
      '{"items":[1]}',
      '{"items":[null,{}]}',
      '{"items":[{}',
      '{"items":[{"a":b}]}',
      '',
      'x',
    ]) {
      assert.throws(() => read(text, 64), { code: 'ERR_MALFORMED' }, text);
    }
  });

  it('is refused when an item is longer than any object can be', () => {
    const reader = new ListReader('list');
    const long = Buffer.alloc(1 << 20, 'x');
    assert.throws(
      () => {
        for (const _ of reader.push(Buffer.from('{"items":[{"a":"'))) assert.fail();
        for (let i = 0; i < 20; i++) for (const _ of reader.push(long)) assert.fail();
      },
      { code: 'ERR_MALFORMED', message: /longer than/ },
    );
  });
});

describe('lines', () => {
  it('are read whole, wherever the pieces end', () => {
    const values = [{ name: 'ä€𝒳\n"' }, { a: 1 }, { b: [] }];
    const text = `${values.map((value) => JSON.stringify(value)).join('\n')}\n\n`;
    for (const size of SIZES) {
      const reader = new LineReader('watch');
      const read = [...pieces(text, size)].flatMap((piece) => [...reader.push(piece)]);
      assert.deepEqual(read, values, `pieces of ${size}`);
      assert.ok(reader.whole);
    }
  });

  it('that make no sense are refused after those before them', () => {
    const reader = new LineReader('watch');
    const read: unknown[] = [];
    assert.throws(
      () => {
        for (const value of reader.push(Buffer.from('{"a":1}\n{"b":\n{"c":3}\n'))) read.push(value);
      },
      { code: 'ERR_MALFORMED' },
    );
    assert.deepEqual(read, [{ a: 1 }]);
  });

  it('that are cut off or too long are errors', () => {
    const reader = new LineReader('watch');
    assert.deepEqual([...reader.push(Buffer.from('{"a":1}\n{"b"'))], [{ a: 1 }]);
    assert.equal(reader.whole, false);
    const long = Buffer.alloc(1 << 20, 'x');
    assert.throws(
      () => {
        for (let i = 0; i < 20; i++) for (const _ of reader.push(long)) assert.fail();
      },
      { code: 'ERR_MALFORMED', message: /longer than/ },
    );
  });
});
