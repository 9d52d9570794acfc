// Pieces of the table of types and options of ipset: its rows, and options that many of them have.
import type { SetDefinition, SetEntry } from '../../../src/kernel/ipset/types.js';

/** An entry: as a value, as an argument of `ipset add`, and as `ipset save` prints it, if that is something else. */
export type EntryRow = readonly [entry: SetEntry, asked: string, saved?: readonly string[]];

/** A set with entries. */
export interface SetRow {
  readonly set: Omit<SetDefinition, 'name'>;
  /** The arguments of `ipset create` behind the name, as `ipset save` prints them too. */
  readonly text: string;
  /** Other arguments with the same meaning. */
  readonly asked?: string;
  /** The revision of the type that has the options; 0 if every kernel since 4.0 has them. */
  readonly revision?: number;
  readonly entries: readonly EntryRow[];
}

/** Every extension of a set. */
export const WITH_ALL = { timeout: 600, counters: true, comment: true, skbInfo: true } as const;
/** Sizes of a hash. */
export const SIZES = { hashSize: 64, maxElements: 1000 } as const;
/** Every option that all hashes have. */
export const ALL = { ...WITH_ALL, forceAdd: true, bucketSize: 4, initval: 0x1234 } as const;
/** A hash of IPv4. */
export const HASH = { family: 4, ...SIZES } as const;
/** A hash of IPv4 with every option that all hashes have. */
export const HASH_ALL = { ...HASH, ...ALL } as const;
/** {@link HASH} as text. */
export const HASH_TEXT = 'family inet hashsize 64 maxelem 1000';
/** A hash of IPv6. */
export const SIX = { family: 6 } as const;
/** {@link SIX} as text, with the sizes that the kernel chooses. */
export const SIX_TEXT = 'family inet6 hashsize 1024 maxelem 65536';
/** {@link WITH_ALL} as text, for bitmaps and lists. */
export const FIXED_TEXT = 'timeout 600 counters comment skbinfo';
/** {@link ALL} as text. */
export const ALL_TEXT = 'timeout 600 counters comment forceadd skbinfo bucketsize 4 initval 0x00001234';

const EXTENSIONS = {
  ...{ timeout: 2_000_000, packets: 42n, bytes: 1024n, comment: 'a comment' },
  ...{ skbMark: 0x1111, skbMask: 0xff00_ffff, skbPrio: 0x1_0010, skbQueue: 10 },
} as const;
const EXTENSIONS_TEXT =
  'packets 42 bytes 1024 comment "a comment" skbmark 0x1111/0xff00ffff skbprio 1:10 skbqueue 10';
const NONE_TEXT = 'timeout 0 packets 0 bytes 0';
/** The fields of an entry without extensions in a set that has them all. */
const NONE = { timeout: 0, packets: 0n, bytes: 0n } as const;

/** An entry with every extension, and one with none that stays. */
export function extended(first: SetEntry, text: string, second: SetEntry, other: string): EntryRow[] {
  return [
    [{ ...first, ...EXTENSIONS }, `${text} timeout 2000000 ${EXTENSIONS_TEXT}`],
    [{ ...second, ...NONE }, `${other} ${NONE_TEXT}`],
  ];
}

/** An exception with every extension. */
export function exception(entry: SetEntry, text: string): EntryRow {
  return [{ ...entry, ...EXTENSIONS, noMatch: true }, `${text} timeout 2000000 nomatch ${EXTENSIONS_TEXT}`];
}

/** A port. */
export const tcp80 = { protocol: 'tcp', port: 80 } as const;
/** A message of ICMP. */
export const ping = { protocol: 1, icmp: { type: 8, code: 0 } } as const;
/** A message of ICMPv6. */
export const ping6 = { protocol: 58, icmp: { type: 128, code: 0 } } as const;
/** A MAC address. */
export const MAC = '01:02:03:04:05:ab';
/** The same as text of the tool. */
export const MAC_TEXT = '01:02:03:04:05:AB';
