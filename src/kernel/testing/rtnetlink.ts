// Links and addresses in memory.
import { constants } from 'node:os';
import { canonicalAddress, familyOf, isLinkLocalIPv6 } from '../../net/address.js';
import { toNetlinkError } from '../failures.js';
import { attemptToRead } from '../rtnetlink/names.js';
import { PACKING } from '../rtnetlink/packing.js';
import { checkLinkName } from '../rtnetlink/records.js';
import type {
  Link,
  LinkAddress,
  LinkAddressId,
  Rtnetlink,
  RtnetlinkEvent,
  RtnetlinkOperation,
} from '../rtnetlink/types.js';
import type { EventStream, OperationResult, WatchOptions } from '../types.js';
import { FakeClient } from './client.js';
import { FakeEvents } from './events.js';

const { EADDRNOTAVAIL, EEXIST, ENODEV, EOPNOTSUPP } = constants.errno;

const IFF_BROADCAST = 0x2;
const IFF_LOOPBACK = 0x8;
const IFF_NOARP = 0x80;
const IFA_F_PERMANENT = 0x80;
const RT_SCOPE = { global: 0, link: 253, host: 254 };

interface Held {
  readonly link: Link;
  readonly addresses: Map<string, LinkAddress>;
}

/**
 * A fake of the links and addresses of a new network namespace, which has `lo`. Addresses keep no order among them: of a
 * network with several addresses, deleting the first deletes no other.
 */
export class FakeRtnetlink extends FakeClient<RtnetlinkOperation> implements Rtnetlink {
  /** Kinds of links that this kernel has; others are refused with EOPNOTSUPP. */
  readonly kinds = new Set(['bridge', 'dummy', 'ifb']);
  /** Notifications of changes, for its watches. A test may add others, or lose some. */
  readonly events = new FakeEvents<RtnetlinkEvent>();
  readonly #links = new Map<string, Held>();
  #lastIndex = 1;
  readonly #act = (operation: RtnetlinkOperation) => this.#do(operation);

  constructor() {
    super();
    const link = { index: 1, name: 'lo', kind: '', flags: IFF_LOOPBACK, mtu: 65536, up: false };
    this.#links.set('lo', { link, addresses: new Map() });
  }

  listLinks(): Promise<Link[]> {
    return this.read(attemptToRead('listLinks'), () => [...this.#links.values()].map(({ link }) => link));
  }

  async getLink(name: string): Promise<Link | undefined> {
    checkLinkName('name', name, 'rtnetlink.getLink');
    return this.read(attemptToRead('getLink', name), () => this.#links.get(name)?.link);
  }

  async listAddresses(link?: string): Promise<LinkAddress[]> {
    const attempt = attemptToRead('listAddresses', link);
    if (link !== undefined) checkLinkName('link', link, attempt.operation);
    return this.read(attempt, () => {
      if (link === undefined) return [...this.#links.values()].flatMap(addressesOf);
      const held = this.#links.get(link);
      if (!held) throw toNetlinkError({ errno: ENODEV, code: '', message: '' }, attempt);
      return addressesOf(held);
    });
  }

  addLink(name: string, kind: string): Promise<void> {
    return this.applyOne({ do: 'addLink', name, kind }, PACKING, this.#act);
  }

  deleteLink(name: string): Promise<void> {
    return this.applyOne({ do: 'deleteLink', name }, PACKING, this.#act);
  }

  addAddress(address: LinkAddressId): Promise<void> {
    return this.applyOne({ do: 'addAddress', address }, PACKING, this.#act);
  }

  deleteAddress(address: LinkAddressId): Promise<void> {
    return this.applyOne({ do: 'deleteAddress', address }, PACKING, this.#act);
  }

  apply(operations: readonly RtnetlinkOperation[]): Promise<OperationResult[]> {
    return this.applyAll(operations, PACKING, this.#act);
  }

  watch(options: WatchOptions = {}): EventStream<RtnetlinkEvent> {
    return this.events.stream('rtnetlink.watch', options, this.closed);
  }

  /** The output of `ip addr show dev LINK`, as far as addresses are concerned. */
  dump(name: string): string {
    const held = this.#links.get(name);
    if (!held) return '';
    const addresses = [...held.addresses.values()].map(
      ({ address, prefix }) =>
        `inet${familyOf(address) === 6 ? '6' : ''} ${address}/${prefix} scope global ${name}\n`,
    );
    return `${name}: <BROADCAST,NOARP> mtu 1500 qdisc noop state DOWN group default\n${addresses.sort().join('')}`;
  }

  #do(operation: RtnetlinkOperation): number | undefined {
    switch (operation.do) {
      case 'addLink':
        return this.#addLink(operation.name, operation.kind);
      case 'deleteLink':
        if (operation.name === 'lo') return EOPNOTSUPP;
        return this.#deleteLink(operation.name);
      default: {
        const held = this.#links.get(operation.address.link);
        if (!held) return ENODEV;
        const deleted = operation.do === 'deleteAddress';
        const changed = (deleted ? deleteAddress : addAddress)(held, operation.address);
        if (typeof changed === 'number') return changed;
        this.events.emit({ kind: 'address', deleted, address: changed });
        return undefined;
      }
    }
  }

  #addLink(name: string, kind: string): number | undefined {
    if (this.#links.has(name)) return EEXIST;
    if (!this.kinds.has(kind)) return EOPNOTSUPP;
    const flags = IFF_BROADCAST | (kind === 'bridge' ? 0 : IFF_NOARP);
    const link = { index: ++this.#lastIndex, name, kind, flags, mtu: 1500, up: false };
    this.#links.set(name, { link, addresses: new Map() });
    this.events.emit({ kind: 'link', deleted: false, link });
    return undefined;
  }

  #deleteLink(name: string): number | undefined {
    const held = this.#links.get(name);
    if (!held) return ENODEV;
    this.#links.delete(name);
    for (const address of addressesOf(held)) this.events.emit({ kind: 'address', deleted: true, address });
    this.events.emit({ kind: 'link', deleted: true, link: held.link });
    return undefined;
  }
}

function addressesOf({ addresses }: Held): LinkAddress[] {
  return [...addresses.values()];
}

/** The address that was added, or the number of the kernel's error; the same below. */
function addAddress({ addresses }: Held, { link, prefix, ...id }: LinkAddressId): LinkAddress | number {
  const address = canonicalAddress(id.address) ?? id.address;
  const key = keyOf(address, prefix);
  if (addresses.has(key)) return EEXIST;
  const added = { link, address, prefix, scope: scopeOf(address), flags: IFA_F_PERMANENT };
  addresses.set(key, added);
  return added;
}

function deleteAddress({ addresses }: Held, { prefix, ...id }: LinkAddressId): LinkAddress | number {
  const key = keyOf(canonicalAddress(id.address) ?? id.address, prefix);
  const held = addresses.get(key);
  if (held?.prefix !== prefix) return EADDRNOTAVAIL;
  addresses.delete(key);
  return held;
}

/** A link has an IPv6 address once, and an IPv4 address once for each prefix length. */
function keyOf(address: string, prefix: number): string {
  return familyOf(address) === 6 ? address : `${address}/${prefix}`;
}

/** The kernel gives IPv6 addresses the scope that they have by themselves, and IPv4 addresses the one that is asked for. */
function scopeOf(address: string): number {
  if (address === '::1') return RT_SCOPE.host;
  return isLinkLocalIPv6(address) ? RT_SCOPE.link : RT_SCOPE.global;
}
