// The node's addresses, links and routes, as far as the path of a packet depends on them.

import { familyOf, isLinkLocalIPv6, isLoopback } from '../../../kernel/net/address.js';
import { isInNetwork, type Network, networkContains, parseNetwork } from '../../../kernel/net/network.js';
import type { AssignedAddress } from '../../../proxy/services/types.js';
import type { NetworkRoute } from '../../kernel/procNet/types.js';

/** The state of the kernel of which a topology consists. */
export interface TopologyFacts {
  /** All addresses of the node, in the kernel's order. */
  readonly addresses: readonly AssignedAddress[];
  /** Kind of each link (`bridge`, `dummy`), by name. */
  readonly links: ReadonlyMap<string, string>;
  /** Routes of the packet's family. */
  readonly routes: readonly NetworkRoute[];
}

/** Answers questions about one state. Pure. */
export class Topology {
  readonly #facts: TopologyFacts;
  readonly #routes: readonly (NetworkRoute & { readonly parsed: Network })[];

  constructor(facts: TopologyFacts) {
    this.#facts = facts;
    this.#routes = facts.routes
      .flatMap((route) => {
        const parsed = parseNetwork(route.network);
        return parsed ? [{ ...route, parsed }] : [];
      })
      .sort((a, b) => b.parsed.prefix - a.parsed.prefix || a.metric - b.metric);
  }

  /** The assignment of an address; undefined if the node does not have it. The network of a loopback link is local as a whole. */
  assigned(address: string): AssignedAddress | undefined {
    return (
      this.#facts.addresses.find((each) => each.address === address) ??
      this.#facts.addresses.find(
        (each) => each.link === 'lo' && isLoopback(address) && contains(each, address),
      )
    );
  }

  isLocal(address: string): boolean {
    return this.assigned(address) !== undefined;
  }

  /** The route to an address of another host: longest prefix, then lowest metric. Undefined without a usable one. */
  route(address: string): NetworkRoute | undefined {
    const route = this.#routes.find(({ parsed }) => networkContains(parsed, address));
    return route?.rejects ? undefined : route;
  }

  /** The link of the default route; undefined without one. */
  uplink(): string | undefined {
    return this.#routes.find(({ parsed, rejects }) => parsed.prefix === 0 && !rejects)?.link;
  }

  /** Kind of a link, empty if it is not a virtual one. */
  kindOf(link: string): string {
    return this.#facts.links.get(link) ?? '';
  }

  /** The addresses of a link in the family of an address. */
  addressesOf(link: string, family: 4 | 6): AssignedAddress[] {
    return this.#facts.addresses.filter((each) => each.link === link && familyOf(each.address) === family);
  }

  /**
   * The source address for packets to a destination: that of the output link in the network of the next hop, otherwise
   * its first one, otherwise that of another link (`inet_select_addr` of net/ipv4/devinet.c).
   */
  sourceFor(destination: string): string | undefined {
    const family = familyOf(destination);
    const route = this.route(destination);
    if (!route) return undefined;
    const usable = ({ address }: AssignedAddress) => !isLinkLocalIPv6(address) && !isLoopback(address);
    const own = this.addressesOf(route.link, family).filter(usable);
    const others = this.#facts.addresses.filter((each) => familyOf(each.address) === family && usable(each));
    const near = own.find((each) => contains(each, route.gateway ?? destination));
    return (near ?? own[0] ?? others[0])?.address;
  }
}

function contains({ address, prefix }: AssignedAddress, other: string): boolean {
  return isInNetwork(`${address}/${prefix}`, other);
}
