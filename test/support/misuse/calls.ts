// Calls with one invalid value, and those of them that are accepted.
import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { hasFields } from '../../../src/kernel/arguments.js';
import { sample, WHOLE } from '../extent.js';
import { INTERFACES, isValid, lastName, namesOf, PASSED_OVER, TAKES_A_PART } from './fields.js';
import { outcomeOf } from './outcome.js';
import type { Verbs } from './subpaths.js';
import type { VerbType } from './types.js';
import { changed, type Place, placesIn, valueAt, wrongValues } from './values.js';

/** Valid calls by the name of the verb. */
export type AnyRows = Readonly<Record<string, readonly (readonly unknown[])[]>>;

/** A call with one invalid value. */
export interface Misuse {
  readonly verb: string;
  readonly place: Place;
  readonly args: readonly unknown[];
  /** Names of which the error has one. */
  readonly names: ReadonlySet<string>;
}

/** Where a sample of the wrong values begins. */
const FIRST = sample([...Array(32).keys()], 1)[0] ?? 0;

/** Rows in which a sample tries a place of the types. */
const MOST_ROWS = 3;

/**
 * Every call with a wrong value in one place, or with a field that the types do not have. In a sample, a place has one wrong value in each
 * of a few rows.
 */
export function* misusesOf(
  subpath: string,
  verbs: ReadonlyMap<string, VerbType>,
  rows: AnyRows,
): Generator<Misuse> {
  let next = FIRST;
  for (const [verb, examples] of Object.entries(rows)) {
    const type = verbs.get(verb) ?? assert.fail(verb);
    const passed = PASSED_OVER[`${subpath}.${verb}`];
    const tries = new Map<string, number>();
    for (const args of examples) {
      for (const place of placesIn(args)) {
        if (passed?.test(place.path)) continue;
        const kinds = type.places.get(place.path) ?? assert.fail(`${subpath}.${verb}${place.path}`);
        const tried = tries.get(place.path) ?? 0;
        if (!WHOLE && tried === MOST_ROWS) continue;
        tries.set(place.path, tried + 1);
        const replaced = (value: unknown) => changed(args, place.keys, value) as unknown[];
        const names = namesOf(subpath, type, place);
        const wrong = wrongValues(kinds);
        for (const value of WHOLE ? wrong : [wrong[next++ % wrong.length]]) {
          if (!isValid(verb, place, kinds, value)) yield { verb, place, args: replaced(value), names };
        }
        const held = valueAt(args, place.keys);
        if (!hasFields(held) || TAKES_A_PART.has(`${subpath}.${verb}${place.path}`)) continue;
        if (INTERFACES[subpath]?.test(`${verb}${place.path}`)) continue;
        yield {
          verb,
          place,
          args: replaced({ ...held, unknownField: 1 }),
          names: new Set(['unknownField', lastName(place.path)]),
        };
      }
    }
  }
}

/** Calls a client or a fake with every misuse. Returns those that were accepted, or of which the error names another field. */
export async function acceptedBy(misuses: Iterable<Misuse>, client: Verbs): Promise<string[]> {
  const accepted = new Set<string>();
  for (const { verb, place, args, names } of misuses) {
    const known = outcomeOf(() => client[verb]?.(...args));
    const outcome = known instanceof Promise ? await known : known;
    if ('field' in outcome && names.has(lastName(outcome.field))) continue;
    const value = inspect(valueAt(args, place.keys), { depth: 0 });
    accepted.add(`${verb} ${place.path} ${value}: ${JSON.stringify(outcome)}`);
  }
  return [...accepted];
}
