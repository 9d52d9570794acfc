// One set of the fake of ipset, with its entries and their extensions.

import { namedProtocol } from '../ipset/protocolNames.js';
import { SHAPES } from '../ipset/shapes.js';
import type { SetDefinition, SetEntry, SetType } from '../ipset/types.js';
import { formatElement, formatEntry } from '../ipset/values/entry.js';
import type { Family } from '../net/address.js';
import { contains, ERR, findInvalidExtension, singleEntries } from './ipsetRules.js';

/** What a set of the fake needs. */
interface HeldSet {
  /** As the kernel keeps it. */
  readonly set: SetDefinition;
  /** The time, in ms. */
  readonly now: () => number;
  /** The type of another set, for lists; undefined when there is none of that name. */
  readonly typeOf: (name: string) => SetType | undefined;
}

interface Held {
  readonly entry: SetEntry;
  /** The time when its timeout has passed, in ms; undefined for an entry that stays. */
  readonly expires: number | undefined;
}

/** A set in memory. */
export class FakeSet {
  readonly set: SetDefinition;
  readonly #from: HeldSet;
  readonly #entries: Map<string, Held>;

  constructor(from: HeldSet, entries: Map<string, Held> = new Map()) {
    this.set = from.set;
    this.#from = from;
    this.#entries = entries;
  }

  /** The same set with another name. */
  renamed(name: string): FakeSet {
    return new FakeSet({ ...this.#from, set: { ...this.set, name } }, this.#entries);
  }

  /** The entries as the kernel lists them. */
  entries(): SetEntry[] {
    this.#expire();
    return [...this.#entries.values()].map(({ entry, expires }) => {
      if (this.set.timeout === undefined) return entry;
      const left = expires === undefined ? 0 : Math.max(1, Math.floor((expires - this.#from.now()) / 1000));
      return { ...entry, timeout: left };
    });
  }

  /** Whether it is a list with this member. */
  hasMember(name: string): boolean {
    return this.set.type === 'list:set' && this.#entries.has(name);
  }

  flush(): void {
    this.#entries.clear();
  }

  /** Adds an entry, or those of a range. Returns the number of the error. */
  add(entry: SetEntry, isStrict: boolean): number | undefined {
    const refusal = findInvalidExtension(this.set, entry) ?? this.#findInvalidMember(entry);
    if (refusal !== undefined) return refusal;
    this.#expire();
    for (const single of singleEntries(this.set, entry)) {
      if (typeof single === 'number') return single;
      const failed = this.#addOne(single, entry, isStrict);
      if (failed !== undefined) return failed;
    }
    return undefined;
  }

  /** Deletes an entry, or those of a range. Returns the number of the error. */
  delete(entry: SetEntry, isStrict: boolean): number | undefined {
    const refusal = this.#findInvalidMember(entry);
    if (refusal !== undefined) return refusal;
    this.#expire();
    for (const single of singleEntries(this.set, entry)) {
      if (typeof single === 'number') return single;
      const place = entry.before ?? entry.after;
      if (place !== undefined && !this.#isAt(entry)) return ERR.listRefExist;
      if (!this.#entries.delete(this.#keyOf(single)) && isStrict) return ERR.exist;
    }
    return undefined;
  }

  /** Whether it has an entry, or matches it. The kernel answers no to an entry that the set cannot have. */
  test(entry: SetEntry): boolean {
    this.#expire();
    if (this.#findInvalidMember(entry) !== undefined) return false;
    const [single] = singleEntries(this.set, entry);
    if (single === undefined || typeof single === 'number') return false;
    if ((entry.before ?? entry.after) !== undefined) return this.#isAt(entry);
    const found = this.#match(single);
    if (!found) return false;
    if (this.set.type === 'bitmap:ip,mac' && single.mac !== undefined && found.mac !== undefined) {
      return single.mac === found.mac;
    }
    return (found.noMatch ?? false) === (entry.noMatch ?? false);
  }

  /** The entry itself; for an address the one of the smallest network that contains it. */
  #match(single: SetEntry): SetEntry | undefined {
    const same = this.#entries.get(this.#keyOf(single))?.entry;
    if (same || !SHAPES[this.set.type].fields6) return same;
    const family: Family = this.set.family ?? 4;
    const matching = [...this.#entries.values()].filter(({ entry }) => isInside(entry, single, family));
    const size = ({ entry }: Held) => (entry.prefix ?? 128) * 129 + (entry.prefix2 ?? 128);
    return matching.sort((a, b) => size(b) - size(a))[0]?.entry;
  }

  #addOne(single: SetEntry, asked: SetEntry, isStrict: boolean): number | undefined {
    const key = this.#keyOf(single);
    const had = this.#entries.get(key)?.entry;
    const fillsIn = this.set.type === 'bitmap:ip,mac' && had?.mac === undefined && single.mac !== undefined;
    if (had && isStrict && !fillsIn) return ERR.exist;
    const held = this.#hold(had?.mac !== undefined ? { mac: had.mac, ...single } : single, asked, had);
    if (had) {
      this.#entries.set(key, held);
      return undefined;
    }
    const { maxElements = Number.POSITIVE_INFINITY, forceAdd } = this.set;
    if (this.#entries.size >= maxElements) {
      const [replaced] = this.#entries.keys();
      if (!forceAdd || replaced === undefined) return ERR.hashFull;
      this.#entries.delete(replaced);
    }
    return this.#insert(key, held, asked);
  }

  /** A list has an order. */
  #insert(key: string, held: Held, { before, after }: SetEntry): number | undefined {
    const place = before ?? after;
    if (place === undefined) {
      this.#entries.set(key, held);
      return undefined;
    }
    if (!this.#entries.has(place)) return ERR.listRefExist;
    const all = [...this.#entries];
    all.splice(all.findIndex(([name]) => name === place) + (before === undefined ? 1 : 0), 0, [key, held]);
    this.#entries.clear();
    for (const [name, one] of all) this.#entries.set(name, one);
    return undefined;
  }

  /** Whether a member of a list is directly before or after the other one. */
  #isAt({ set = '', before, after }: SetEntry): boolean {
    const names = [...this.#entries.keys()];
    const at = names.indexOf(set);
    return at >= 0 && (before === undefined ? names[at - 1] === after : names[at + 1] === before);
  }

  #findInvalidMember({ set, before, after }: SetEntry): number | undefined {
    if (set === undefined) return undefined;
    const type = this.#from.typeOf(set);
    if (type === undefined) return ERR.listName;
    if (type === 'list:set') return ERR.listLoop;
    const place = before ?? after;
    return place !== undefined && this.#from.typeOf(place) === undefined ? ERR.listNameRef : undefined;
  }

  /** An entry with the extensions of the set. One that exists, `had`, keeps its counters if none are asked for. */
  #hold(single: SetEntry, asked: SetEntry, had: SetEntry = {}): Held {
    const { timeout: standard, counters, comment, skbInfo } = this.set;
    const timeout = standard === undefined ? 0 : (asked.timeout ?? standard);
    const { skbMark, skbMask = skbMark === undefined ? 0 : 0xffff_ffff, skbPrio, skbQueue } = asked;
    const entry: SetEntry = {
      ...single,
      ...(counters && {
        packets: asked.packets ?? had.packets ?? 0n,
        bytes: asked.bytes ?? had.bytes ?? 0n,
      }),
      ...(comment && asked.comment !== undefined && { comment: asked.comment }),
      ...(skbInfo && (skbMark || skbMask) && { skbMark: skbMark ?? 0, skbMask }),
      ...(skbInfo && skbPrio && { skbPrio }),
      ...(skbInfo && skbQueue && { skbQueue }),
    };
    return { entry, expires: timeout === 0 ? undefined : this.#from.now() + 1000 * timeout };
  }

  /** Flags, and the MAC address of bitmap:ip,mac, are not part of the identity of an entry. */
  #keyOf(single: SetEntry): string {
    if (this.set.type === 'bitmap:ip,mac') return single.address ?? '';
    return formatElement(single, namedProtocol);
  }

  #expire(): void {
    if (this.set.timeout === undefined) return;
    const now = this.#from.now();
    for (const [key, { expires }] of this.#entries) {
      if (expires !== undefined && expires <= now) this.#entries.delete(key);
    }
  }
}

/** Whether an entry with networks contains the tested one, whose other parts are the same. */
function isInside(kept: SetEntry, tested: SetEntry, family: Family): boolean {
  const {
    address: a,
    prefix: aPrefix,
    address2: a2,
    prefix2: a2Prefix,
    ...ownRest
  } = withoutExtensions(kept);
  const { address: b, prefix: bPrefix, address2: b2, prefix2: b2Prefix, ...rest } = withoutExtensions(tested);
  if (formatEntry(ownRest) !== formatEntry(rest)) return false;
  const first =
    a !== undefined && b !== undefined && contains(blockOf(a, aPrefix), blockOf(b, bPrefix), family);
  if (!first) return false;
  return (
    a2 === undefined || b2 === undefined || contains(blockOf(a2, a2Prefix), blockOf(b2, b2Prefix), family)
  );
}

function blockOf(address: string, prefix: number | undefined) {
  return prefix === undefined ? { address } : { address, prefix };
}

function withoutExtensions(entry: SetEntry): SetEntry {
  const {
    timeout: _,
    packets: __,
    bytes: ___,
    comment: ____,
    noMatch: _____,
    wildcard: ______,
    ...rest
  } = entry;
  return rest;
}
