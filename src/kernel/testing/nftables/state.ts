// The state of the fake kernel: tables with chains, rules, sets, elements and objects, as their attributes. Every change notes how it is
// undone.
import { DERIVED_SET_FLAGS } from '../../nftables/numbers.js';

export interface FakeBase {
  readonly type: string;
  readonly hook: number;
  readonly priority: number;
  /** `NFTA_CHAIN_HOOK`, as it was written. */
  readonly written: Uint8Array;
}

export interface FakeRule {
  readonly handle: bigint;
  readonly chain: FakeChain;
  /** `NFTA_RULE_EXPRESSIONS` */
  readonly expressions: Uint8Array;
  readonly userData: Uint8Array | undefined;
  readonly uses: Uses;
}

/** What a rule, or an element, refers to. */
export interface Uses {
  readonly chains: readonly FakeChain[];
  readonly sets: readonly FakeSet[];
  /** Objects, and flow tables. */
  readonly objects: readonly { uses: number }[];
}

export interface FakeChain {
  readonly table: FakeTable;
  readonly name: string;
  readonly handle: bigint;
  readonly base: FakeBase | undefined;
  readonly userData: Uint8Array | undefined;
  policy: number;
  rules: readonly FakeRule[];
  /** Rules and elements that lead to it. */
  jumps: number;
}

export interface FakeElement {
  readonly key: Uint8Array;
  readonly keyEnd: Uint8Array | undefined;
  readonly flags: number;
  /** `NFTA_SET_ELEM_DATA` */
  readonly data: Uint8Array | undefined;
  /** `NFTA_SET_ELEM_OBJREF` */
  readonly object: string | undefined;
  /** `NFTA_SET_ELEM_EXPRESSIONS` or `_EXPR`, with the type of the attribute. */
  readonly expressions: { readonly type: number; readonly value: Uint8Array } | undefined;
  readonly userData: Uint8Array | undefined;
  /** In ms. */
  readonly timeout: bigint | undefined;
  /** When it vanishes, in ms. */
  readonly until: number | undefined;
  readonly uses: Uses;
}

export interface FakeSet {
  readonly table: FakeTable;
  readonly name: string;
  readonly handle: bigint;
  readonly flags: number;
  readonly keyType: number;
  readonly keyLength: number;
  readonly dataType: number | undefined;
  readonly dataLength: number | undefined;
  /** `NFTA_SET_DESC_CONCAT` */
  readonly fields: Uint8Array | undefined;
  readonly userData: Uint8Array | undefined;
  /** Attributes that are listed as they were written, by their types. */
  readonly kept: ReadonlyMap<number, Uint8Array>;
  size: number | undefined;
  /** In ms. */
  timeout: bigint | undefined;
  /** Rules that refer to it. */
  bindings: number;
  /** By {@link keyOf}. */
  readonly elements: Map<string, FakeElement>;
}

export interface FakeObject {
  readonly table: FakeTable;
  readonly name: string;
  readonly type: number;
  readonly handle: bigint;
  readonly data: Uint8Array | undefined;
  readonly userData: Uint8Array | undefined;
  uses: number;
}

export interface FakeFlowTable {
  readonly table: FakeTable;
  readonly name: string;
  readonly handle: bigint;
  readonly priority: number;
  /** By name: `NFTA_DEVICE_`, the type of the attribute that it has. */
  devices: ReadonlyMap<string, number>;
  readonly flags: number;
  uses: number;
}

export interface FakeTable {
  readonly family: number;
  readonly name: string;
  readonly handle: bigint;
  readonly userData: Uint8Array | undefined;
  flags: number;
  /** The handle that was given last. */
  handles: bigint;
  readonly chains: Map<string, FakeChain>;
  readonly sets: Map<string, FakeSet>;
  /** By type and name. */
  readonly objects: Map<string, FakeObject>;
  readonly flowTables: Map<string, FakeFlowTable>;
}

/** No references. */
export const NO_USES: Uses = { chains: [], sets: [], objects: [] };

/** Whether a set belongs to a rule. */
export function isAnonymous({ flags }: FakeSet): boolean {
  return (flags & DERIVED_SET_FLAGS.anonymous) !== 0;
}

/** The key of an element in its set: the end of an interval may have the bytes of the beginning of another one, and a catch-all has none. */
export function keyOf(key: Uint8Array, flags: number): string {
  return `${Buffer.from(key).toString('latin1')}${flags & 3}`;
}

/** The key of an object in its table. */
export function objectKey(type: number, name: string): string {
  return `${type} ${name}`;
}

interface Handled {
  readonly handle: bigint;
}

/** Changes that can be undone together. */
export class Changes {
  readonly #undo: (() => void)[] = [];

  /** Notes how a change that was made is undone. */
  undoWith(undo: () => void): void {
    this.#undo.push(undo);
  }

  /** Gives a field another value. */
  set<Target, Field extends keyof Target>(target: Target, field: Field, value: Target[Field]): void {
    const former = target[field];
    target[field] = value;
    this.#undo.push(() => {
      target[field] = former;
    });
  }

  /** Adds an entry that a map does not have. */
  add<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
    map.set(key, value);
    this.#undo.push(() => map.delete(key));
  }

  /** Deletes an entry. */
  delete<Key, Value>(map: Map<Key, Value>, key: Key): void {
    const former = map.get(key) as Value;
    map.delete(key);
    this.#undo.push(() => map.set(key, former));
  }

  /** The same of things that are listed in the order of their handles. */
  deleteInOrder<Value extends Handled>(map: Map<string, Value>, key: string): void {
    const former = map.get(key) as Value;
    map.delete(key);
    this.#undo.push(() => {
      const all = [...map, [key, former] as const].sort(([, a], [, b]) => (a.handle < b.handle ? -1 : 1));
      map.clear();
      for (const [name, value] of all) map.set(name, value);
    });
  }

  /** Whether something was changed. */
  get any(): boolean {
    return this.#undo.length > 0;
  }

  /** Undoes all changes. */
  undo(): void {
    for (const undo of this.#undo.splice(0).reverse()) undo();
  }
}
