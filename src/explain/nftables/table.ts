// A table of nftables in a form in which packets can be followed through it. Pure.
import type { BaseChain, Chain, Element, NftSet, Rule } from '../../kernel/nftables/types.js';

/** A chain with its rules. */
export interface ProgrammedChain {
  readonly base?: BaseChain;
  /** In the order in which they apply. */
  readonly rules: readonly Rule[];
}

/** A set or a map with its elements. */
export interface ProgrammedSet {
  readonly set: NftSet;
  /** Those of single keys, by {@link keyText}. */
  readonly single: ReadonlyMap<string, Element>;
  /** Intervals. */
  readonly intervals: readonly Element[];
}

/** A table of one family. */
export interface ProgrammedTable {
  readonly chains: ReadonlyMap<string, ProgrammedChain>;
  readonly sets: ReadonlyMap<string, ProgrammedSet>;
}

/** A set as it was read: its elements have bytes as keys and data. */
export interface SetWithElements {
  readonly set: NftSet;
  readonly elements: readonly Element[];
}

/** The parts of one table, together. */
export function tableOf(
  chains: readonly Chain[],
  rules: readonly Rule[],
  sets: readonly SetWithElements[],
): ProgrammedTable {
  const found = new Map<string, { readonly base?: BaseChain; readonly rules: Rule[] }>();
  for (const { name, base } of chains) found.set(name, { ...(base && { base }), rules: [] });
  for (const rule of rules) found.get(rule.chain)?.rules.push(rule);
  return {
    chains: found,
    sets: new Map(sets.map(({ set, elements }) => [set.name, setOf(set, elements)])),
  };
}

function setOf(set: NftSet, elements: readonly Element[]): ProgrammedSet {
  const single = new Map<string, Element>();
  const intervals: Element[] = [];
  for (const element of elements) {
    if (element.keyEnd !== undefined) intervals.push(element);
    else single.set(keyText(bytesIn(element.key)), element);
  }
  return { set, single, intervals };
}

/** The element of a key; undefined if the set has none. */
export function elementAt({ single, intervals }: ProgrammedSet, key: Uint8Array): Element | undefined {
  const found = single.get(keyText(key));
  if (found) return found;
  const wanted = Buffer.from(key);
  return intervals.find(
    (each) => wanted.compare(bytesIn(each.key)) >= 0 && wanted.compare(bytesIn(each.keyEnd)) <= 0,
  );
}

/** A key as the text of its bytes. */
export function keyText(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');
}

/** The bytes of a key or of data. Throws a TypeError if the set was read with types. */
export function bytesIn(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new TypeError('the elements must be read without types: as bytes');
}
