// A set that was listed → the definition that makes it again.
import { argumentError } from '../shared/arguments.js';
import { RecordWriter } from '../shared/records/recordWriter.js';
import { OPERATION } from './layouts.js';
import { PARAMETERS } from './parameters.js';
import { findInvalidReference, writeOperation } from './records.js';
import type { SetDefinition, SetHeader } from './types.js';

/**
 * The definition that makes a listed set again, for create() and apply(): its name, its type and its parameters, without what the
 * kernel counts. The other set of the same type gets the same hash function (`initval`), if the kernel lists it.
 *
 * Throws a RangeError for a set with `attributes`, which a definition would lose, and a TypeError or RangeError that names a field
 * that breaks a rule.
 */
export function definitionOf(set: SetHeader): SetDefinition {
  return definitionFor(set, 'ipset.definitionOf');
}

/** {@link definitionOf} for an operation, which errors name. */
export function definitionFor(set: SetHeader, operation: string): SetDefinition {
  const broken = findInvalidReference(set);
  if (broken) throw argumentError(operation, broken);
  if (set.attributes !== undefined) {
    const rule = 'must be left out: a definition has no such parameters';
    throw argumentError(operation, {
      field: 'set.attributes',
      value: set.attributes,
      rule,
      wrongType: false,
    });
  }
  const parameters = PARAMETERS.map((parameter) => [parameter, set[parameter]] as const);
  const definition = Object.fromEntries([
    ...Object.entries({ name: set.name, type: set.type }),
    ...parameters.filter(([, value]) => value !== undefined),
  ]) as unknown as SetDefinition;
  const writer = new RecordWriter(OPERATION.SIZE, 1);
  writeOperation({ do: 'create', set: definition }, writer);
  const invalid = writer.finish();
  if (invalid) throw argumentError(operation, invalid);
  return definition;
}
