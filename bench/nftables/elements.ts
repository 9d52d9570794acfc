// The elements of an operation, however they are given.
import type { NewElement, NftablesOperation } from '../../src/kernel/nftables/types.js';
import { readValue } from '../../src/kernel/nftables/values/values.js';
import { layoutOf } from '../../src/kernel/nftables/values/valueTypes.js';

type WithElements = Extract<NftablesOperation, { elements: unknown }>;

/** The elements of an operation: those that are given as bytes as values. */
export function elementsOf({ set, elements }: WithElements): readonly NewElement[] {
  if (!('count' in elements)) return elements;
  const { count, keys } = elements;
  const data = 'data' in elements ? elements.data : undefined;
  const key = layoutOf(set.key);
  const value = set.data === undefined || set.data === 'verdict' ? undefined : layoutOf(set.data);
  return Array.from({ length: count }, (_, i) => ({
    key: readValue(key, keys, i * key.length, key.length),
    ...(data && value && { data: readValue(value, data, i * value.length, value.length) }),
  }));
}
