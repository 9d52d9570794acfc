// Calls with one invalid value of what is not a client: the functions, constructors and methods of the other exports. The calls and the
// fields are those of the exported types, so that a new one without a row fails.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as testing from '../../src/kernel/testing/index.js';
import * as kubernetes from '../../src/proxy/api/index.js';
import * as library from '../../src/proxy/index.js';
import { type AnyRows, acceptedBy, misusesOf } from '../support/misuse/calls.js';
import { PASSED_OVER, UNCHECKED } from '../support/misuse/fields.js';
import { outcomeOf } from '../support/misuse/outcome.js';
import { API_SOURCE, CONNECTION, KUBERNETES, LIBRARY } from '../support/misuse/rows/library.js';
import { TESTING } from '../support/misuse/rows/testing.js';
import type { Verbs } from '../support/misuse/subpaths.js';
import { ExportedTypes } from '../support/misuse/types.js';
import { placesIn } from '../support/misuse/values.js';

interface Export {
  /** Its module, below src/kernel. */
  readonly file: string;
  readonly module: object;
  readonly rows: AnyRows;
  /** Objects of its classes that are not made without arguments. */
  readonly made: Verbs;
}

const EXPORTS: Readonly<Record<string, Export>> = {
  testing: { file: 'testing/index', module: testing, rows: TESTING, made: {} },
  library: {
    file: '../proxy/index',
    module: library,
    rows: LIBRARY,
    made: {
      ManifestSource: () => new library.ManifestSource({ path: '/nonesuch', follow: false }),
    },
  },
  kubernetes: {
    file: '../proxy/api/index',
    module: kubernetes,
    rows: KUBERNETES,
    made: {
      ApiClient: () => new kubernetes.ApiClient(CONNECTION, { userAgent: 'a/1' }),
      ApiSource: () => stopping(new kubernetes.ApiSource(API_SOURCE as never), 'start', 'waitForNode'),
    },
  },
};

/** The verbs of a source, which is stopped after each call, so that the call ends. */
function stopping(source: { stop(): void }, ...verbs: readonly string[]): Verbs {
  const calls = source as unknown as Verbs;
  const call =
    (verb: string) =>
    (...args: unknown[]) => {
      const result = calls[verb]?.(...args);
      source.stop();
      return result;
    };
  return Object.fromEntries(verbs.map((verb) => [verb, call(verb)]));
}

const types = new ExportedTypes(Object.values(EXPORTS).map(({ file }) => file));

/** The calls by their name: `failNth`, `new` of `FakeNetlink`, `FakeSysctl.read` of a new object, `AddressPorts.none` of the class. */
function callsOf(module: object, names: readonly string[], made: Verbs): Verbs {
  const exported = module as Readonly<Record<string, Verbs & (new (...args: unknown[]) => Verbs)>>;
  return Object.fromEntries(
    names.map((name) => [
      name,
      (...args: unknown[]) => {
        const [owner = '', method] = name.split('.');
        const value = exported[owner] ?? assert.fail(name);
        if (method !== undefined) {
          const target = Object.hasOwn(value, method) ? value : (made[owner]?.() ?? new value());
          return (target as Verbs)[method]?.(...args);
        }
        const isClass = value.toString().startsWith('class');
        return isClass ? new value(...args) : (value as unknown as (...args: unknown[]) => unknown)(...args);
      },
    ]),
  );
}

describe('a call of an export with an invalid value', () => {
  for (const [name, { file, module, rows, made }] of Object.entries(EXPORTS)) {
    const calls = new Map([...types.calls(file)].filter(([call]) => !UNCHECKED[name]?.test(call)));
    const verbs = callsOf(module, Object.keys(rows), made);

    it(`has a row for every call and every field of ${name}`, () => {
      assert.deepEqual(Object.keys(rows).sort(), [...calls.keys()].sort());
      for (const [call, { places }] of calls) {
        const has = new Set(rows[call]?.flatMap((args) => [...placesIn(args)].map(({ path }) => path)));
        const passed = PASSED_OVER[`${name}.${call}`];
        assert.deepEqual(
          [...places.keys()].filter((path) => !has.has(path) && !passed?.test(path)),
          [],
          call,
        );
      }
    });

    it(`is valid without that value: ${name}`, async () => {
      for (const [call, examples] of Object.entries(rows)) {
        for (const args of examples) {
          const outcome = await outcomeOf(() => verbs[call]?.(...args));
          assert.ok(
            'accepted' in outcome && !/\bTypeError\b/.test(outcome.accepted),
            `${call}: ${JSON.stringify(outcome)}`,
          );
        }
      }
    });

    it(`is refused by ${name}`, async () => {
      assert.deepEqual(await acceptedBy(misusesOf(name, calls, rows), verbs), []);
    });
  }
});
