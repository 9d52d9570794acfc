// What the compiler asks for, which is what run time asks for.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { BITS, EXTENSIONS, SHAPES } from '../../../src/kernel/ipset/shapes.js';
import type { SetType } from '../../../src/kernel/ipset/types.js';
import { errorsOf, type Snippet } from '../../support/compileTime/compile.js';
import { INVALID, VALID } from '../../support/compileTime/rows.js';

const snippets = (rows: Readonly<Record<string, readonly string[]>>): Snippet[] =>
  Object.entries(rows).flatMap(([subpath, texts]) => texts.map((text) => ({ subpath, text })));

describe('a program with a call', () => {
  it('that is valid compiles', () => {
    const programs = snippets(VALID);
    const errors = errorsOf(programs);
    assert.deepEqual(
      programs.flatMap(({ text }, i) => errors[i]?.map((error) => `${text}: ${error}`)),
      [],
    );
  });

  it('that run time would refuse does not compile', () => {
    const programs = snippets(INVALID);
    const errors = errorsOf(programs);
    assert.deepEqual(
      programs.filter((_, i) => errors[i]?.length === 0).map(({ text }) => text),
      [],
    );
  });
});

/** A value of each field of an entry. */
const VALUES = {
  ...{ address: '10.0.0.1', prefix: 24, lastAddress: '10.0.0.9', protocol: 'tcp', port: 80, lastPort: 90 },
  ...{ address2: '10.0.1.1', prefix2: 24, lastAddress2: '10.0.1.9', mac: '02:00:00:00:00:01', mark: 1 },
  ...{ interface: 'lo', physdev: true, wildcard: true, noMatch: true, set: 'b', before: 'c', after: 'd' },
  ...{ timeout: 1, packets: 1n, bytes: 1n, comment: 'x', skbMark: 1, skbMask: 1, skbPrio: 1, skbQueue: 1 },
} as const satisfies Record<keyof typeof BITS, unknown>;
type Field = keyof typeof VALUES;
const FIELDS = Object.keys(VALUES) as Field[];

describe('the fields of an entry', () => {
  const programOf = (type: SetType, fields: readonly Field[]) => {
    const entry = inspect(Object.fromEntries(fields.map((field) => [field, VALUES[field]])), {
      breakLength: Infinity,
    });
    const family = SHAPES[type].families.length === 2 ? ', family: 4' : '';
    return { subpath: 'ipset', text: `void ipset.add({ name: 'a', type: '${type}'${family} }, ${entry});` };
  };
  const of = (bits: number) => FIELDS.filter((field) => (bits & BITS[field]) !== 0);

  it('that each type of set needs, and those that it may have, are those of the rules at run time', () => {
    const valid: Snippet[] = [];
    const invalid: Snippet[] = [];
    for (const [type, { required, fields }] of Object.entries(SHAPES) as [
      SetType,
      (typeof SHAPES)[SetType],
    ][]) {
      const needed = of(required);
      const allowed = of(fields | EXTENSIONS);
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
    const errors = errorsOf([...valid, ...invalid]);
    assert.deepEqual(
      valid.filter((_, i) => errors[i]?.length !== 0).map(({ text }, i) => `${text}: ${errors[i]}`),
      [],
    );
    assert.deepEqual(
      invalid.filter((_, i) => errors[valid.length + i]?.length === 0).map(({ text }) => text),
      [],
    );
  });
});
