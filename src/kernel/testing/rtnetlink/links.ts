// Links in memory, with the kernel's rules.
import { constants } from 'node:os';
import type {
  Link,
  LinkFlag,
  LinkReference,
  LinkSettings,
  LinkSwitches,
  NewLinkSettings,
  VethPeer,
} from '../../rtnetlink/types.js';

const { EEXIST, EINVAL, ELOOP, ENODEV, ENOTCONN, EOPNOTSUPP } = constants.errno;

/** Kinds that a new kernel has. */
export const KINDS = ['bridge', 'dummy', 'ifb', 'veth', 'vlan'] as const;

/** A link that can be changed. */
type Held = { -readonly [Name in keyof Link]: Link[Name] };

/** A link that was added, changed or deleted. */
export type LinkChanged = (link: Link, deleted: boolean) => void;

const FLAG_OF: Readonly<Record<keyof LinkSwitches, LinkFlag>> = {
  up: 'up',
  arp: 'noarp',
  multicast: 'multicast',
  allMulticast: 'allmulti',
  promiscuous: 'promisc',
  dynamic: 'dynamic',
  trailers: 'notrailers',
};
const INVERSE: ReadonlySet<string> = new Set(['arp', 'trailers']);

/** The links of a network namespace. */
export class FakeLinks {
  readonly #links = new Map<string, Held>();
  readonly #kinds: ReadonlySet<string>;
  readonly #changed: LinkChanged;
  readonly #renamed: () => void;
  #lastIndex = 0;

  /** @param renamed is called before `changed` for a link that has another name */
  constructor(kinds: ReadonlySet<string>, changed: LinkChanged, renamed: () => void) {
    this.#kinds = kinds;
    this.#changed = changed;
    this.#renamed = renamed;
    this.#create('lo', '', ['loopback'], { mtu: 65536, address: '00:00:00:00:00:00' });
  }

  list(): Link[] {
    return [...this.#links.values()].sort((a, b) => a.index - b.index);
  }

  get(link: LinkReference): Link | undefined {
    return this.#find(link);
  }

  add(name: string, kind: string, settings: NewLinkSettings = {}): number | undefined {
    const { index, link: below, master, netns, peer, vlan } = settings;
    if (below !== undefined && !this.#links.has(below)) return ENODEV;
    if (typeof master === 'string' && !this.#links.has(master)) return ENODEV;
    if (this.#links.has(name)) return EEXIST;
    if (!this.#kinds.has(kind)) return EOPNOTSUPP;
    if (index !== undefined && this.#find(index)) return EEXIST;
    // The kernel sets the peer up before it knows the other end.
    if (peer?.up) return ENOTCONN;
    if (kind === 'vlan') {
      if (vlan?.id === undefined || below === undefined) return EINVAL;
      const twin = this.list().some((each) => each.link === below && each.vlan?.id === vlan.id);
      if (twin) return EEXIST;
    }
    if (mtuBreaksRule(kind, settings.mtu)) return EINVAL;
    const peerName = peer?.name ?? (kind === 'veth' ? this.#freeName('veth', name) : undefined);
    if (peerName !== undefined && (peerName === name || this.#links.has(peerName))) return EEXIST;
    if (netns !== undefined) return undefined; // elsewhere
    if (kind === 'veth' && peer?.netns === undefined) this.#createPeer(peerName ?? '', name, peer ?? {});
    const flags: LinkFlag[] =
      kind === 'dummy' || kind === 'ifb' ? ['broadcast', 'noarp'] : ['broadcast', 'multicast'];
    const held = this.#create(name, kind, flags, index === undefined ? {} : { index });
    if (below !== undefined) Object.assign(held, { link: below, linkIndex: this.#find(below)?.index });
    if (kind === 'veth') held.link = peerName as string;
    if (kind === 'vlan') held.vlan = { protocol: '802.1Q', reorderHeader: true, ...vlan };
    if (kind === 'bridge')
      held.bridge = { stp: false, forwardDelay: 15, ageingTime: 300, ...settings.bridge };
    this.#apply(held, settings);
    if (typeof master === 'string') held.master = master;
    this.#changed(held, false);
    return undefined;
  }

  set(link: LinkReference, settings: LinkSettings): number | undefined {
    const held = this.#find(link);
    const { name, master, netns, bridge, vlan, bridgePort, mtu } = settings;
    if (!held) return ENODEV;
    const upper = typeof master === 'string' ? this.#links.get(master) : undefined;
    if (typeof master === 'string') {
      if (!upper) return ENODEV;
      if (upper.kind !== 'bridge') return EOPNOTSUPP;
      if (held.kind === 'bridge') return ELOOP;
      if (held.name === 'lo') return EINVAL;
    }
    if (name !== undefined && name !== held.name && this.#links.has(name)) return EEXIST;
    if (mtuBreaksRule(held.kind, mtu)) return EINVAL;
    if ((bridge && held.kind !== 'bridge') || (vlan && held.kind !== 'vlan')) return EOPNOTSUPP;
    if (bridgePort && !upper && held.master === undefined) return EOPNOTSUPP;
    if (netns !== undefined && held.name === 'lo') return EINVAL;
    if (netns !== undefined) return this.#remove(held);
    if (name !== undefined && name !== held.name) this.#rename(held, name);
    if (upper) held.master = upper.name;
    if (master === null) this.#free(held);
    if (bridge) held.bridge = { ...held.bridge, ...bridge };
    if (vlan) held.vlan = { ...held.vlan, ...vlan };
    if (held.master !== undefined) {
      const { backupPort, ...port } = { state: 0, priority: 32, ...held.bridgePort, ...bridgePort };
      held.bridgePort = backupPort ? { ...port, backupPort } : port;
    }
    this.#apply(held, settings);
    this.#changed(held, false);
    return undefined;
  }

  delete(link: LinkReference): number | undefined {
    const held = this.#find(link);
    if (!held) return ENODEV;
    return held.name === 'lo' ? EOPNOTSUPP : this.#remove(held);
  }

  #remove(held: Held): undefined {
    this.#links.delete(held.name);
    for (const other of [...this.#links.values()]) {
      if (other.master === held.name) this.#free(other);
      const dies = other.link === held.name && (other.kind === 'vlan' || other.kind === 'veth');
      if (dies && this.#links.has(other.name)) this.#remove(other);
    }
    this.#changed(held, true);
    return undefined;
  }

  #free(held: Held): void {
    delete held.master;
    delete held.bridgePort;
  }

  #rename(held: Held, name: string): void {
    this.#links.delete(held.name);
    for (const other of this.#links.values()) {
      if (other.master === held.name) other.master = name;
      if (other.link === held.name) other.link = name;
    }
    held.name = name;
    this.#links.set(name, held);
    this.#renamed();
  }

  #createPeer(name: string, other: string, peer: VethPeer): void {
    const held = this.#create(name, 'veth', ['broadcast', 'multicast'], {});
    held.link = other;
    this.#apply(held, peer);
    this.#changed(held, false);
  }

  #create(name: string, kind: string, flags: readonly LinkFlag[], more: Partial<Link>): Held {
    const index = more.index ?? ++this.#lastIndex;
    this.#lastIndex = Math.max(this.#lastIndex, index);
    const address = `02:00:00:00:00:${(index & 255).toString(16).padStart(2, '0')}`;
    const held: Held = {
      index,
      name,
      kind,
      flags,
      mtu: 1500,
      up: false,
      state: 'down',
      address,
      group: 0,
      ...more,
    };
    held.txQueueLength = 1000;
    this.#links.set(name, held);
    return held;
  }

  #apply(held: Held, settings: LinkSettings | VethPeer): void {
    const { mtu, txQueueLength, address, broadcast, alias, group, addressGeneration, protoDown } = settings;
    const plain = {
      mtu,
      txQueueLength,
      address: address?.toLowerCase(),
      broadcast,
      alias,
      group,
      addressGeneration,
      protoDown,
    };
    for (const [field, value] of Object.entries(plain)) {
      if (value !== undefined) Object.assign(held, { [field]: value });
    }
    const flags = new Set(held.flags);
    for (const field of Object.keys(FLAG_OF) as (keyof LinkSwitches)[]) {
      const value = settings[field];
      if (value === undefined) continue;
      if (value !== INVERSE.has(field)) flags.add(FLAG_OF[field]);
      else flags.delete(FLAG_OF[field]);
    }
    held.up = flags.has('up');
    const hasCarrier = held.up && (held.kind !== 'veth' || this.#links.get(held.link ?? '')?.up !== false);
    for (const flag of ['running', 'lower_up'] as const) {
      if (hasCarrier) flags.add(flag);
      else flags.delete(flag);
    }
    held.flags = [...flags];
    held.state = hasCarrier ? (held.kind === 'veth' || held.kind === 'vlan' ? 'up' : 'unknown') : 'down';
  }

  #find(link: LinkReference): Held | undefined {
    if (typeof link === 'string') return this.#links.get(link);
    return [...this.#links.values()].find(({ index }) => index === link);
  }

  #freeName(start: string, taken: string): string {
    for (let i = 0; ; i++) {
      const name = `${start}${i}`;
      if (name !== taken && !this.#links.has(name)) return name;
    }
  }
}

/** ETH_MIN_MTU and ETH_MAX_MTU; a dummy has no bounds. */
function mtuBreaksRule(kind: string, mtu: number | undefined): boolean {
  return mtu !== undefined && (kind === 'veth' || kind === 'bridge') && (mtu < 68 || mtu > 65535);
}
