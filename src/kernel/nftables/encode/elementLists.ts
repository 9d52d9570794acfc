// Messages with a list of elements of a set, however the elements are given.
import type { ByteWriter } from '../../shared/wire/byteWriter.js';
import { DATA, ELEMENTS, NESTED } from '../numbers.js';
import type { Messages } from './messages.js';

/** A list of elements has less than so many bytes: its attribute has at most 65535, and an element less than 1024. */
export const LONGEST_LIST = 61_440;

/** The set that elements are added to, or deleted from. */
export interface Target {
  readonly family: number;
  readonly table: unknown;
  /** Names the table in errors. */
  readonly tablePath: string;
  /** Its name, or its number in the transaction: the kernel then finds it without a search through the sets of the table. */
  readonly set: { readonly name: unknown } | { readonly id: number };
  /** The attributes of the names of table and set, if they have been written before. */
  readonly names?: Uint8Array;
}

/** A message about elements: type and flags. */
export interface ElementsMessage {
  readonly type: number;
  readonly flags: number;
  /** Whether elements have only keys. */
  readonly isName: boolean;
}

/** Begins a message and its list of elements; returns the place of the list. */
export function beginList(messages: Messages, { type, flags }: ElementsMessage, target: Target): number {
  messages.begin(type, flags, target.family);
  if (target.names) messages.bytes.bytes(target.names);
  else writeNames(messages, target);
  return messages.bytes.begin(ELEMENTS.list | NESTED);
}

/** Writes the attributes of the names of table and set. */
export function writeNames(messages: Messages, { table, tablePath, set }: Target): void {
  messages.name(ELEMENTS.table, tablePath, table);
  if ('id' in set) messages.u32(ELEMENTS.setId, set.id);
  else messages.name(ELEMENTS.set, 'set.name', set.name);
}

/** Ends the list and the message. */
export function endList(messages: Messages, list: number): void {
  messages.bytes.end(list);
  messages.end();
}

/** Begins an attribute with a value of this length; returns the place of the value, which is zero. */
export function beginValue(bytes: ByteWriter, attribute: number, length: number): number {
  bytes
    .u16(((length + 3) & ~3) + 8)
    .u16(attribute | NESTED)
    .u16(length + 4)
    .u16(DATA.value);
  return bytes.reserve((length + 3) & ~3);
}
