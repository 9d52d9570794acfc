// A table of nftables in a form in which packets can be followed through it. Pure.
import type {
  BaseChain,
  Chain,
  Element,
  ElementValue,
  NftSet,
  Rule,
  Verdict,
} from '../../../kernel/nftables/types.js';
import { bytesOf } from '../../../kernel/nftables/values/values.js';

/** A chain with its rules. */
export interface ProgrammedChain {
  readonly base?: BaseChain;
  /** In the order in which they apply. */
  readonly rules: readonly Rule[];
}

/** A set or a map with its elements. */
export interface ProgrammedSet extends SetWithElements {
  /** Those of single keys, by {@link keyText}. */
  readonly single: ReadonlyMap<string, Element>;
  /** Intervals, by the bytes of their first and last key. */
  readonly intervals: readonly {
    readonly first: Uint8Array;
    readonly last: Uint8Array;
    readonly element: Element;
  }[];
}

/** A table of one family. */
export interface ProgrammedTable {
  readonly chains: ReadonlyMap<string, ProgrammedChain>;
  readonly sets: ReadonlyMap<string, ProgrammedSet>;
  /** A rule as nft prints it, without its comment. */
  textOf(rule: Rule): string;
}

/** A set as it was read. */
export interface SetWithElements {
  readonly set: NftSet;
  readonly elements: readonly Element[];
}

/** The parts of one table, together. */
export function tableOf(
  chains: readonly Chain[],
  rules: readonly Rule[],
  sets: readonly SetWithElements[],
  textOf: ProgrammedTable['textOf'],
): ProgrammedTable {
  const found = new Map<string, { readonly base?: BaseChain; readonly rules: Rule[] }>();
  for (const { name, base } of chains) found.set(name, { ...(base && { base }), rules: [] });
  for (const rule of rules) found.get(rule.chain)?.rules.push(rule);
  const setsByName = new Map(sets.map((each) => [each.set.name, setOf(each)]));
  // A rule with a map is written once, and not for each of the branches that a random number makes.
  const texts = new Map<Rule, string>();
  const textOnce = (rule: Rule) => {
    const text = texts.get(rule) ?? textOf(rule);
    texts.set(rule, text);
    return text;
  };
  return { chains: found, sets: setsByName, textOf: textOnce };
}

/** A set with all of its elements. */
export function setOf({ set, elements }: SetWithElements): ProgrammedSet {
  const single = new Map<string, Element>();
  const intervals: ProgrammedSet['intervals'][number][] = [];
  for (const element of elements) {
    const first = bytesIn(set.key, element.key);
    if (element.keyEnd === undefined) single.set(keyText(first), element);
    else intervals.push({ first, last: bytesIn(set.key, element.keyEnd), element });
  }
  return { set, elements, single, intervals };
}

/** The element of a key; undefined if the set has none. */
export function elementAt({ single, intervals }: ProgrammedSet, key: Uint8Array): Element | undefined {
  const found = single.get(keyText(key));
  if (found) return found;
  const wanted = Buffer.from(key);
  return intervals.find(({ first, last }) => wanted.compare(first) >= 0 && wanted.compare(last) <= 0)
    ?.element;
}

/** Whether a set has an element with this key; false if there is no set. */
export function has(set: ProgrammedSet | undefined, key: ElementValue): boolean {
  return set !== undefined && elementAt(set, bytesIn(set.set.key, key)) !== undefined;
}

/** The data of an element of a map: a verdict, or its bytes. Undefined for an element of a set. */
export function dataOf({ set }: ProgrammedSet, { data }: Element): Verdict | Uint8Array | undefined {
  if (data === undefined || (typeof data === 'object' && 'verdict' in data)) return data;
  return set.data === 'verdict' || set.data === undefined
    ? undefined
    : bytesIn(set.data, data as ElementValue);
}

/** A key as the text of its bytes. */
export function keyText(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');
}

/** The key of an element as bytes. */
export function bytesOfKey({ key }: Pick<NftSet, 'key'>, element: Element): Uint8Array {
  return bytesIn(key, element.key);
}

/** A value without a known type was read as bytes. */
function bytesIn(types: NftSet['key'], value: ElementValue): Uint8Array {
  if (value instanceof Uint8Array) return value;
  return typeof types === 'number' ? new Uint8Array() : bytesOf(types, value);
}
