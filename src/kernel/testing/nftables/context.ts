// What the messages of one transaction have in common, and the errors with which the fake kernel refuses them.
import { constants } from 'node:os';
import type { Attributes } from './attributes.js';
import type { Changes, FakeChain, FakeSet, FakeTable } from './state.js';

const { ENOENT, EINVAL } = constants.errno;

/** The refusal of a message. */
export class KernelRefusal extends Error {
  readonly errno: number;
  /** The attribute that is refused: its value, or undefined. */
  readonly culprit: Uint8Array | undefined;

  constructor(errno: number, culprit?: Uint8Array) {
    super(`errno ${errno}`);
    this.errno = errno;
    this.culprit = culprit;
  }
}

/** Refuses the message. */
export function refuse(errno: number, culprit?: Uint8Array): never {
  throw new KernelRefusal(errno, culprit);
}

/** A message that changes, and the transaction that it is in. */
export interface Context {
  readonly tables: Map<string, FakeTable>;
  readonly changes: Changes;
  /** Sets by their `NFTA_SET_ID`. */
  readonly setIds: Map<number, FakeSet>;
  /** Anonymous sets of the transaction that no rule refers to yet. */
  readonly unbound: globalThis.Set<FakeSet>;
  /** Number for the next table. */
  nextTable(): bigint;
  /** In ms. */
  now(): number;
  readonly family: number;
  /** `NLM_F_` */
  readonly flags: number;
  /** Whether a missing object is no error: `NFT_MSG_DESTROY…`. */
  readonly ifExists: boolean;
  readonly attributes: Attributes;
  /** Notifies of a change, if the transaction is committed. */
  notify(event: () => Uint8Array): void;
}

/** The key of a table. */
export function tableKey(family: number, name: string): string {
  return `${family} ${name}`;
}

/** A name that the message must have. */
export function nameIn(attributes: Attributes, type: number): string {
  return attributes.text(type) ?? refuse(EINVAL);
}

/** The table that the message names, or ENOENT. */
export function tableOf(
  { tables, family, attributes }: Pick<Context, 'tables' | 'family' | 'attributes'>,
  type: number,
): FakeTable {
  const name = nameIn(attributes, type);
  return tables.get(tableKey(family, name)) ?? refuse(ENOENT, attributes.bytes(type));
}

/** The chain of that name in the table, or ENOENT. */
export function chainOf(table: FakeTable, attributes: Attributes, type: number): FakeChain {
  return table.chains.get(nameIn(attributes, type)) ?? refuse(ENOENT, attributes.bytes(type));
}

/** The set that a message names, by its name or by its number in the transaction. */
export function setOf(
  { setIds, attributes }: Pick<Context, 'setIds' | 'attributes'>,
  table: FakeTable,
  types: { readonly name: number; readonly id: number },
): FakeSet {
  const name = attributes.text(types.name);
  const named = name === undefined ? undefined : table.sets.get(name);
  const id = attributes.u32(types.id);
  const numbered = id === undefined ? undefined : setIds.get(id);
  return named ?? numbered ?? refuse(ENOENT, attributes.bytes(types.name));
}

/** A new handle of the table. */
export function nextHandle({ changes }: Context, table: FakeTable): bigint {
  changes.set(table, 'handles', table.handles + 1n);
  return table.handles;
}
