// Forwarding databases of bridges, VXLANs and other links in memory, with the kernel's rules.
import { constants } from 'node:os';
import type { ForwardingEntry, ForwardingEntryId, Link, NewForwardingEntry } from '../../rtnetlink/types.js';
import type { Refusal } from '../client.js';

const { EEXIST, EINVAL, ENOENT, EOPNOTSUPP, EPERM } = constants.errno;

/** A change of an entry. */
type EntryChanged = (entry: ForwardingEntry, deleted: boolean) => void;

/** What the databases need of the links. */
interface LinksOfEntries {
  find(name: string): Link | undefined;
  /** The VLANs of a port or a bridge. */
  vlansOf(link: Link): readonly number[];
}

/** An entry, with the bridge in whose database it is. */
interface Held {
  readonly entry: ForwardingEntry;
  readonly bridge: string | undefined;
}

type Verb = 'add' | 'append' | 'replace';

/** The databases of a network namespace. They lack the addresses that the kernel itself adds: those of ports, and multicast groups. */
export class FakeForwardingEntries {
  #held: Held[] = [];
  readonly #links: LinksOfEntries;
  readonly #changed: EntryChanged;

  constructor(links: LinksOfEntries, changed: EntryChanged) {
    this.#links = links;
    this.#changed = changed;
  }

  list(): ForwardingEntry[] {
    return this.#held.map(({ entry }) => ({ ...entry }));
  }

  /** Forgets the entries of a link that is gone, or is no port of the bridge any more; those that age, if it is down. */
  follow({ name, master, up }: Link, deleted: boolean): void {
    this.#remove(({ entry, bridge }) => {
      if (entry.link !== name) return false;
      if (deleted || (entry.master && bridge !== master)) return true;
      return entry.master && !up && entry.state === 'dynamic' && !isExternal(entry);
    });
  }

  write(verb: Verb, link: Link, given: NewForwardingEntry): Refusal | undefined {
    const bridge = this.#bridgeOf(link, given);
    if (given.master && bridge === undefined) return EOPNOTSUPP;
    if (bridge !== undefined) return this.#writeOfBridge(verb, link, bridge, given);
    return link.kind === 'vxlan'
      ? this.#writeOfVxlan(verb, link, given)
      : this.#writeOther(verb, link, given);
  }

  delete(link: Link, id: ForwardingEntryId): Refusal | undefined {
    const bridge = this.#bridgeOf(link, id);
    if (id.master && bridge === undefined) return EOPNOTSUPP;
    if (bridge !== undefined && id.vlan !== undefined && !this.#links.vlansOf(link).includes(id.vlan))
      return EINVAL;
    const wanted = endOf(link, id);
    const removed = this.#remove(({ entry }) => {
      if (!isSamePlace(entry, link, id)) return false;
      if (bridge !== undefined) return id.vlan === undefined || entry.vlan === id.vlan;
      return wanted.destination === undefined || isSameEnd(entry, wanted);
    });
    return removed ? undefined : ENOENT;
  }

  #writeOfBridge(verb: Verb, link: Link, bridge: string, given: NewForwardingEntry): Refusal | undefined {
    const { state = 'permanent', vlan } = given;
    if (state !== 'permanent' && (!given.master || (state !== 'static' && state !== 'dynamic')))
      return EINVAL;
    if (isZero(given.hardwareAddress)) return EINVAL;
    // A port that does not learn has no entries that age, but those that another program learned.
    const learns = link.up && this.#links.find(bridge)?.up === true;
    if (state === 'dynamic' && !learns && !isExternal(given)) return EPERM;
    const vlans = this.#links.vlansOf(link);
    if (vlan !== undefined && !vlans.includes(vlan)) return EINVAL;
    for (const each of vlan === undefined ? [undefined, ...vlans] : [vlan]) {
      const entry = entryOf(link, given, each === undefined ? {} : { vlan: each });
      const isSame = (other: ForwardingEntry) =>
        other.hardwareAddress === entry.hardwareAddress && other.vlan === each;
      const place = this.#held.findIndex((held) => held.bridge === bridge && isSame(held.entry));
      const former = this.#held[place]?.entry;
      if (former && verb === 'add' && !isExternal(given)) return EEXIST;
      this.#put(place, { entry: asLearned(entry, former), bridge });
    }
    return undefined;
  }

  #writeOfVxlan(verb: Verb, link: Link, given: NewForwardingEntry): Refusal | undefined {
    const { state = 'permanent' } = given;
    if (state !== 'permanent' && state !== 'dynamic') return EINVAL;
    const entry = entryOf(link, given, endOf(link, given));
    const first = this.#held.findIndex((held) => isSamePlace(held.entry, link, given));
    if (first >= 0 && verb === 'add') return EEXIST;
    const hasSeveral = isZero(given.hardwareAddress) || isMulticast(given.hardwareAddress);
    if (verb === 'replace') {
      if (hasSeveral) return EOPNOTSUPP;
      this.#put(first, { entry, bridge: undefined });
      return undefined;
    }
    const isThere = this.#held.some(
      (held) => isSamePlace(held.entry, link, given) && isSameEnd(held.entry, entry),
    );
    if (first < 0 || (hasSeveral && !isThere)) this.#put(-1, { entry, bridge: undefined });
    return undefined;
  }

  #writeOther(verb: Verb, link: Link, given: NewForwardingEntry): Refusal | undefined {
    const { state = 'permanent', vlan } = given;
    if (link.name === 'lo' || state !== 'permanent' || vlan !== undefined) return EINVAL;
    const place = this.#held.findIndex((held) => isSamePlace(held.entry, link, given));
    if (place >= 0) return verb === 'add' ? EEXIST : undefined;
    this.#put(-1, { entry: entryOf(link, { ...given, flags: [] }, {}), bridge: undefined });
    return undefined;
  }

  #put(place: number, held: Held): void {
    if (place < 0) this.#held.push(held);
    else this.#held[place] = held;
    this.#changed(held.entry, false);
  }

  #remove(isGone: (held: Held) => boolean): boolean {
    const gone: Held[] = [];
    const kept: Held[] = [];
    for (const held of this.#held) (isGone(held) ? gone : kept).push(held);
    this.#held = kept;
    for (const { entry } of gone) this.#changed(entry, true);
    return gone.length > 0;
  }

  /** The bridge in whose database an entry is; undefined for one of the link itself. */
  #bridgeOf({ name, kind, master }: Link, id: ForwardingEntryId): string | undefined {
    if (!id.master) return kind === 'bridge' ? name : undefined;
    return master !== undefined && this.#links.find(master)?.kind === 'bridge' ? master : undefined;
  }
}

type End = Pick<ForwardingEntry, 'destination' | 'port' | 'vni' | 'outputLink'>;

/** The other end of a VXLAN, as the kernel lists it: without what is the VXLAN's own. */
function endOf({ vxlan }: Link, { destination, port, vni, outputLink }: ForwardingEntryId): End {
  return {
    ...(destination !== undefined && { destination }),
    ...(port !== undefined && port !== (vxlan?.port ?? 8472) && { port }),
    ...(vni !== undefined && vni !== vxlan?.id && { vni }),
    ...(outputLink !== undefined && { outputLink }),
  };
}

function entryOf(link: Link, given: NewForwardingEntry, more: Partial<ForwardingEntry>): ForwardingEntry {
  const { hardwareAddress, master = false, state = 'permanent', flags = [], protocol } = given;
  return {
    ...{ link: link.name, hardwareAddress: normalized(hardwareAddress), master, state },
    flags: flags.filter((flag) => flag !== 'use'),
    ...more,
    ...(protocol !== undefined && { protocol }),
  };
}

/** `NTF_EXT_LEARNED` */
const EXTERNAL = 'extern_learn';

/** Whether an entry was learned by another program: it does not age. */
function isExternal({ flags = [] }: Pick<NewForwardingEntry, 'flags'>): boolean {
  return flags.includes(EXTERNAL);
}

/**
 * An entry of a bridge as the kernel keeps it (br_fdb_external_learn_add()): one that another program learns is dynamic, whatever state is
 * given, or keeps the state that it has; the flag stays when it is replaced.
 */
function asLearned(entry: ForwardingEntry, former: ForwardingEntry | undefined): ForwardingEntry {
  if (isExternal(entry)) {
    const flags = [...(former?.flags ?? []).filter((flag) => flag !== EXTERNAL), EXTERNAL] as const;
    return { ...entry, state: entry.master ? (former?.state ?? 'dynamic') : 'permanent', flags };
  }
  return former && isExternal(former) ? { ...entry, flags: [...entry.flags, EXTERNAL] } : entry;
}

function isSamePlace(entry: ForwardingEntry, link: Link, id: ForwardingEntryId): boolean {
  const isSame = entry.link === link.name && entry.master === (id.master ?? false);
  return isSame && entry.hardwareAddress === normalized(id.hardwareAddress);
}

function isSameEnd(entry: End, end: End): boolean {
  const fields = ['destination', 'port', 'vni', 'outputLink'] as const;
  return fields.every((field) => entry[field] === end[field]);
}

function normalized(address: string): string {
  return address
    .split(':')
    .map((byte) => byte.padStart(2, '0').toLowerCase())
    .join(':');
}

function isZero(address: string): boolean {
  return /^[0:]*$/.test(address);
}

function isMulticast(address: string): boolean {
  return (Number.parseInt(address, 16) & 1) === 1;
}
