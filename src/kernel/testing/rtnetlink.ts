// Links and addresses in memory.
import { constants } from 'node:os';
import { canonicalAddress, familyOf, isLinkLocalIPv6 } from '../../net/address.js';
import { toNetlinkError } from '../failures.js';
import { attemptToRead } from '../rtnetlink/names.js';
import { PACKING } from '../rtnetlink/packing.js';
import { checkLinkName } from '../rtnetlink/records.js';
import type { Link, LinkAddress, LinkAddressId, Rtnetlink, RtnetlinkOperation } from '../rtnetlink/types.js';
import type { OperationResult } from '../types.js';
import { FakeClient } from './client.js';

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
        return this.#links.delete(operation.name) ? undefined : ENODEV;
      default: {
        const held = this.#links.get(operation.address.link);
        if (!held) return ENODEV;
        return operation.do === 'addAddress'
          ? addAddress(held, operation.address)
          : deleteAddress(held, operation.address);
      }
    }
  }

  #addLink(name: string, kind: string): number | undefined {
    if (this.#links.has(name)) return EEXIST;
    if (!this.kinds.has(kind)) return EOPNOTSUPP;
    const flags = IFF_BROADCAST | (kind === 'bridge' ? 0 : IFF_NOARP);
    const link = { index: ++this.#lastIndex, name, kind, flags, mtu: 1500, up: false };
    this.#links.set(name, { link, addresses: new Map() });
    return undefined;
  }
}

function addressesOf({ addresses }: Held): LinkAddress[] {
  return [...addresses.values()];
}

function addAddress({ addresses }: Held, { link, prefix, ...id }: LinkAddressId): number | undefined {
  const address = canonicalAddress(id.address) ?? id.address;
  const key = keyOf(address, prefix);
  if (addresses.has(key)) return EEXIST;
  addresses.set(key, { link, address, prefix, scope: scopeOf(address), flags: IFA_F_PERMANENT });
  return undefined;
}

function deleteAddress({ addresses }: Held, { prefix, ...id }: LinkAddressId): number | undefined {
  const key = keyOf(canonicalAddress(id.address) ?? id.address, prefix);
  if (addresses.get(key)?.prefix !== prefix) return EADDRNOTAVAIL;
  addresses.delete(key);
  return undefined;
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
