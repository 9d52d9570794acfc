// What the compiler asks for, which is what run time asks for.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { BITS, EXTENSIONS, SHAPES } from '../../../src/kernel/ipset/shapes.js';
import type { SetType } from '../../../src/kernel/ipset/types.js';
import { errorsOf, type Snippet } from '../../support/compileTime/compile.js';
import { INVALID, VALID } from '../../support/compileTime/rows.js';
import { sample } from '../../support/extent.js';

const snippets = (rows: Readonly<Record<string, readonly string[]>>): Snippet[] =>
  Object.entries(rows).flatMap(([subpath, texts]) => texts.map((text) => ({ subpath, text })));

/** A value of each field of an entry. */
const VALUES = {
  ...{ address: '10.0.0.1', prefix: 24, lastAddress: '10.0.0.9', protocol: 'tcp', port: 80, lastPort: 90 },
  ...{ address2: '10.0.1.1', prefix2: 24, lastAddress2: '10.0.1.9', mac: '02:00:00:00:00:01', mark: 1 },
  ...{ interface: 'lo', physdev: true, wildcard: true, noMatch: true, set: 'b', before: 'c', after: 'd' },
  ...{ timeout: 1, packets: 1n, bytes: 1n, comment: 'x', skbMark: 1, skbMask: 1, skbPrio: 1, skbQueue: 1 },
} as const satisfies Record<keyof typeof BITS, unknown>;
type Field = keyof typeof VALUES;
const FIELDS = Object.keys(VALUES) as Field[];

function programOf(type: SetType, fields: readonly Field[]): Snippet {
  const entry = inspect(Object.fromEntries(fields.map((field) => [field, VALUES[field]])), {
    breakLength: Infinity,
  });
  const family = SHAPES[type].families.length === 2 ? ', family: 4' : '';
  return { subpath: 'ipset', text: `void ipset.add({ name: 'a', type: '${type}'${family} }, ${entry});` };
}

const fieldsOf = (bits: number) => FIELDS.filter((field) => (bits & BITS[field]) !== 0);

/** Programs that add an entry: with the fields that the type of its set needs or may have, and without one of them or with another. */
function entries(): { valid: readonly Snippet[]; invalid: readonly Snippet[] } {
  const valid: Snippet[] = [];
  const invalid: Snippet[] = [];
  for (const [type, { required, fields }] of Object.entries(SHAPES) as [
    SetType,
    (typeof SHAPES)[SetType],
  ][]) {
    const needed = fieldsOf(required);
    const allowed = fieldsOf(fields | EXTENSIONS);
    valid.push(programOf(type, needed), programOf(type, allowed));
    invalid.push(
      ...needed.map((left) =>
        programOf(
          type,
          needed.filter((field) => field !== left),
        ),
      ),
    );
    const others = FIELDS.filter((field) => !allowed.includes(field));
    invalid.push(...others.map((field) => programOf(type, [...needed, field])));
  }
  return { valid, invalid: sample(invalid, 60) };
}

const CALLS = { valid: sample(snippets(VALID), 30), invalid: sample(snippets(INVALID), 40) };
const ENTRIES = entries();

describe('a program', () => {
  /** Of all programs: to compile them together takes a third of the time. */
  let errors: ReadonlyMap<Snippet, readonly string[]>;
  before(() => {
    const all = [CALLS, ENTRIES].flatMap(({ valid, invalid }) => [...valid, ...invalid]);
    const found = errorsOf(all);
    errors = new Map(all.map((program, i) => [program, found[i] ?? []]));
  });

  for (const [what, { valid, invalid }] of [
    ['a call', CALLS],
    ['the fields of an entry that the type of its set needs, or may have', ENTRIES],
  ] as const) {
    it(`with ${what} compiles`, () => {
      assert.deepEqual(
        valid.flatMap((program) => errors.get(program)?.map((error) => `${program.text}: ${error}`)),
        [],
      );
    });

    it(`that run time would refuse does not compile: ${what}`, () => {
      assert.deepEqual(
        invalid.filter((program) => errors.get(program)?.length === 0).map(({ text }) => text),
        [],
      );
    });
  }
});
