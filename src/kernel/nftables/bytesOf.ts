// The bytes of values, for the data of expressions. Pure.
import { argumentError } from '../shared/arguments.js';
import type { ElementValue, ValueTypes } from './types.js';
import { ruleOfValue, WRITTEN, writeValue } from './values/values.js';
import { isValueType, layoutOf, MOST_PARTS } from './values/valueTypes.js';

const OPERATION = 'nftables.bytesOf';

/**
 * The bytes of a value, as the data of a `cmp` or of an `immediate` has them: `bytesOf('ipv4_addr', '10.0.0.1')`. The parts of a
 * concatenation are padded to 4 bytes each. Throws a TypeError or RangeError that names the rule.
 */
export function bytesOf(types: ValueTypes, value: ElementValue): Uint8Array {
  checkTypes(types);
  const layout = layoutOf(types);
  const bytes = new Uint8Array(layout.length);
  const result = writeValue(layout, value, bytes, 0);
  if (result === WRITTEN) return bytes;
  const isPart = result >= 0 && Array.isArray(value);
  const wrong: unknown = isPart ? value[result] : value;
  const wrongType = typeof wrong !== 'string' && typeof wrong !== 'number';
  const field = isPart ? `value[${result}]` : 'value';
  throw argumentError(OPERATION, { field, value: wrong, rule: ruleOfValue(layout, result), wrongType });
}

function checkTypes(types: unknown): void {
  const list: readonly unknown[] = Array.isArray(types) ? types : [types];
  const isList = Array.isArray(types);
  if (isList && (list.length < 2 || list.length > MOST_PARTS)) {
    const rule = `must be a type of values, or a list of 2 to ${MOST_PARTS}`;
    throw argumentError(OPERATION, { field: 'types', value: types, rule, wrongType: false });
  }
  for (const [place, type] of list.entries()) {
    if (isValueType(type)) continue;
    const field = isList ? `types[${place}]` : 'types';
    const wrongType = typeof type !== 'string';
    throw argumentError(OPERATION, { field, value: type, rule: 'must be a type of values', wrongType });
  }
}
