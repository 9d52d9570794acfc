// Links in memory, with the kernel's rules.
import { constants } from 'node:os';
import { PAIRS } from '../../rtnetlink/links/kinds/index.js';
import type {
  Link,
  LinkFlag,
  LinkReference,
  LinkSettings,
  LinkSwitches,
  NewLinkSettings,
  VethPeer,
} from '../../rtnetlink/types.js';
import type { Refusal } from '../client.js';
import { type Held, TUNNEL_KINDS, updateCarriers } from './carrier.js';
import {
  changeKind,
  changePort,
  flagsOfKind,
  isPortOf,
  newPort,
  refusalOfChange,
  refusalOfNew,
  refusalOfPort,
  setNewKind,
  setPeerKind,
} from './kinds.js';
import type { Named } from './named.js';
import { LONG_MTU, noLink, SHORT_MTU, UNKNOWN_KIND } from './refusals.js';

const { EBUSY, EEXIST, EINVAL, ENETDOWN, ENODEV, ENOENT, ENOTCONN, EOPNOTSUPP } = constants.errno;

/** Kinds that a new kernel has. */
export const KINDS = [
  ...['bond', 'bridge', 'dummy', 'geneve', 'ifb', 'ipvlan', 'ipvtap', 'macvlan', 'macvtap', 'netkit'],
  ...['veth', 'vlan', 'vrf', 'vxlan', 'wireguard'],
  ...TUNNEL_KINDS,
] as const;

/** What one kernel has and another has not. */
interface LinkKernel {
  readonly kinds: ReadonlySet<string>;
  readonly renamesLinksThatAreUp: boolean;
}

/** A link that was added, changed or deleted. */
type LinkChanged = (link: Link, deleted: boolean) => void;

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
  readonly #kernel: LinkKernel;
  readonly #changed: LinkChanged;
  readonly #renamed: () => void;
  #lastIndex = 0;

  /** @param renamed is called before `changed` for a link that has another name */
  constructor(kernel: LinkKernel, changed: LinkChanged, renamed: () => void) {
    this.#kernel = kernel;
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

  add(name: string, kind: string, settings: Named<NewLinkSettings> = {}): Refusal | undefined {
    const { index, link: below, master, netns, peer } = settings;
    if (below !== undefined && !this.#links.has(below)) return noLink(below);
    if (typeof master === 'string' && !this.#links.has(master)) return noLink(master);
    if (this.#named(name)) return EEXIST;
    if (!this.#kernel.kinds.has(kind)) return UNKNOWN_KIND;
    if (index !== undefined && this.#find(index)) return EEXIST;
    // The kernel sets the peer up before it knows the other end.
    if (peer?.up) return ENOTCONN;
    const refused = refusalOfNew(kind, settings, this.list());
    if (refused) return refused;
    const belowIsDown = below !== undefined && this.#links.get(below)?.up === false;
    if (settings.up && belowIsDown && kind === 'vlan') return ENETDOWN;
    const broken = invalidMtu(kind, settings.mtu);
    if (broken) return broken;
    const isPair = PAIRS.has(kind) && settings.netkit?.pairing !== 'single';
    const peerName =
      peer?.name ?? (isPair ? this.#freeName(kind === 'veth' ? 'veth' : 'nk', name) : undefined);
    if (peerName !== undefined && (peerName === name || this.#named(peerName))) return EEXIST;
    if (netns !== undefined) return undefined; // elsewhere
    if (isPair && peer?.netns === undefined) this.#createPeer(peerName ?? '', name, kind, peer ?? {});
    const held = this.#create(name, kind, flagsOfKind(kind), index === undefined ? {} : { index });
    if (below !== undefined) Object.assign(held, { link: below, linkIndex: this.#find(below)?.index });
    setNewKind(held, settings);
    if (isPair) this.#pair(held, peerName ?? '');
    this.#apply(held, settings);
    const upper = typeof master === 'string' ? this.#links.get(master) : undefined;
    if (upper) this.#join(held, upper);
    this.#notify(held);
    return undefined;
  }

  set(link: LinkReference, settings: Named<LinkSettings>): Refusal | undefined {
    const held = this.#find(link);
    const { name, master, netns, mtu } = settings;
    if (!held) return typeof link === 'string' ? noLink(link) : ENODEV;
    const upper = typeof master === 'string' ? this.#links.get(master) : undefined;
    if (typeof master === 'string') {
      if (!upper) return noLink(master);
      const refused = held.master === master ? undefined : refusalOfPort(held, upper);
      if (refused) return refused;
    }
    // Also if the name stays (dev_change_name before Linux 6.2).
    if (name !== undefined && held.up && !this.#kernel.renamesLinksThatAreUp) return EBUSY;
    if (name !== undefined && name !== held.name && this.#named(name)) return EEXIST;
    const broken = invalidMtu(held.kind, mtu);
    if (broken) return broken;
    const refused = refusalOfChange(held, settings, this.#hasPorts(held));
    if (refused) return refused;
    if (!isPortOf((upper ?? this.#links.get(held.master ?? ''))?.kind, settings)) return EOPNOTSUPP;
    if (netns !== undefined && held.name === 'lo') return EINVAL;
    if (netns !== undefined) return this.#remove(held);
    const belowIsDown = this.#links.get(held.link ?? '')?.up === false && !held.vlan?.looseBinding;
    if (settings.up && !held.up && belowIsDown && held.kind === 'vlan') return ENETDOWN;
    if (name !== undefined && name !== held.name) this.#rename(held, name);
    const wasUp = held.up;
    if (upper && held.master !== upper.name) this.#join(held, upper);
    if (master === null) this.#free(held);
    changeKind(held, settings);
    changePort(held, settings);
    this.#apply(held, settings);
    if (held.up !== wasUp) this.#followLink(held);
    this.#notify(held);
    return undefined;
  }

  delete(link: LinkReference): Refusal | undefined {
    const held = this.#find(link);
    if (!held) return ENODEV;
    return held.name === 'lo' ? EOPNOTSUPP : this.#remove(held);
  }

  addName(link: LinkReference, name: string): Refusal | undefined {
    const held = this.#find(link);
    if (!held) return ENODEV;
    if (this.#named(name)) return EEXIST;
    held.alternativeNames = [...(held.alternativeNames ?? []), name];
    this.#notify(held);
    return undefined;
  }

  deleteName(link: LinkReference, name: string): Refusal | undefined {
    const held = this.#find(link);
    if (!held) return ENODEV;
    const owner = this.#named(name);
    if (!owner) return ENOENT;
    if (owner !== held || held.name === name) return EINVAL;
    const left = held.alternativeNames?.filter((each) => each !== name) ?? [];
    if (left.length > 0) held.alternativeNames = left;
    else delete held.alternativeNames;
    this.#notify(held);
    return undefined;
  }

  #remove(held: Held): undefined {
    this.#links.delete(held.name);
    for (const other of [...this.#links.values()]) {
      if (other.master === held.name) this.#free(other);
      const dies = other.link === held.name && (other.kind === 'vlan' || PAIRS.has(other.kind));
      if (dies && this.#links.has(other.name)) this.#remove(other);
    }
    this.#changed(held, true);
    for (const other of updateCarriers(this.#links)) this.#changed(other, false);
    return undefined;
  }

  /** Notifies of a link, and of those whose state depends on it. */
  #notify(held: Held): void {
    const others = updateCarriers(this.#links).filter((other) => other !== held);
    for (const each of [held, ...others]) this.#changed(each, false);
  }

  /** VLANs go up and down with the link below (vlan_device_event). */
  #followLink({ name, up }: Held): void {
    for (const vlan of this.#links.values()) {
      if (vlan.kind !== 'vlan' || vlan.link !== name || vlan.up === up) continue;
      if (!up && vlan.vlan?.looseBinding) continue;
      this.#apply(vlan, { up });
      this.#changed(vlan, false);
    }
  }

  /** The two ends of a pair have each other's index. */
  #pair(held: Held, name: string): void {
    held.link = name;
    const peer = this.#links.get(name);
    if (!peer) return;
    held.linkIndex = peer.index;
    peer.linkIndex = held.index;
    setPeerKind(peer, held);
  }

  /** Makes a link a port of another. A bond sets its ports up, and gives them its hardware address: that of the first of them. */
  #join(held: Held, upper: Held): void {
    const isFirst = !this.#hasPorts(upper);
    if (held.master !== undefined) this.#free(held);
    Object.assign(held, newPort(held, upper), { master: upper.name });
    if (upper.kind !== 'bond') return;
    if (isFirst && held.address !== undefined) upper.address = held.address;
    this.#apply(held, { up: true, ...(upper.address !== undefined && { address: upper.address }) });
    held.flags = [...held.flags, 'slave'];
  }

  #free(held: Held): void {
    const address = held.bondPort?.permanentAddress;
    if (held.bondPort) {
      held.flags = held.flags.filter((flag) => flag !== 'slave');
      this.#apply(held, { up: false, ...(address !== undefined && { address }) });
    }
    delete held.master;
    delete held.bridgePort;
    delete held.bondPort;
    delete held.vrfPort;
  }

  #hasPorts({ name }: Link): boolean {
    return [...this.#links.values()].some(({ master }) => master === name);
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

  #createPeer(name: string, other: string, kind: string, peer: VethPeer): void {
    const held = this.#create(name, kind, flagsOfKind(kind), {});
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
      queueingDiscipline: 'noop',
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
    if (held.up && held.queueingDiscipline === 'noop') held.queueingDiscipline = 'noqueue';
    held.flags = [...flags];
  }

  #find(link: LinkReference): Held | undefined {
    if (typeof link === 'string') return this.#named(link);
    return [...this.#links.values()].find(({ index }) => index === link);
  }

  /** The link that has a name, or has it as an alternative one. */
  #named(name: string): Held | undefined {
    const found = this.#links.get(name);
    return found ?? [...this.#links.values()].find((each) => each.alternativeNames?.includes(name));
  }

  #freeName(start: string, taken: string): string {
    for (let i = 0; ; i++) {
      const name = `${start}${i}`;
      if (name !== taken && !this.#named(name)) return name;
    }
  }
}

/** ETH_MIN_MTU and ETH_MAX_MTU; a dummy has no bounds. */
function invalidMtu(kind: string, mtu: number | undefined): Refusal | undefined {
  if (mtu === undefined || (kind !== 'veth' && kind !== 'bridge')) return undefined;
  if (mtu < 68) return SHORT_MTU;
  return mtu > 65535 ? LONG_MTU : undefined;
}
