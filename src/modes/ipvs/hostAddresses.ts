// Which addresses of the host matter to ipvs mode.
import { type Family, familyOf, isLinkLocalIPv6, isLoopback } from '../../net/address.js';
import { type Network, networkContains, parseNetwork } from '../../net/network.js';
import { symmetricDifference } from '../../services/nodeDependents.js';
import type { HostAddress, HostChange, NodeChange, NodeFacts } from '../../services/types.js';
import { type Item, keyOf, LINK, LINK_KEY } from './items.js';
import type { IpvsOptions } from './options.js';

/** The host's addresses, as ipvs mode looks at them. */
export interface HostView {
  /** Where node ports stand, per family. */
  readonly nodePortAddresses: Readonly<Record<Family, readonly string[]>>;
  /** Families whose node ports no network restricts. */
  readonly unrestricted: ReadonlySet<Family>;
  /** Addresses on devices other than ours: an external IP among them is reachable without being bound. */
  readonly elsewhere: ReadonlySet<string>;
}

/**
 * Computed once for each NodeFacts.
 *
 * Node ports stand on every address of every other device that is neither loopback nor link-local, or, when networks are
 * given for the family, on every non-loopback address within them, our device's too unless that is cured. A network of
 * length 0 is as good as none given. `primary` gives each family the node's own address; one that has none is as good as
 * not given.
 */
export function hostViewer({
  nodePortAddresses: given,
  cures,
}: Pick<IpvsOptions, 'nodePortAddresses' | 'cures'>): (node: NodeFacts) => HostView {
  const views = new WeakMap<NodeFacts, HostView>();
  return (node) => {
    let view = views.get(node);
    if (!view) {
      const candidates = cures.has('node-ports-off-vips')
        ? node.hostAddresses.filter(({ link }) => link !== LINK)
        : node.hostAddresses;
      const networks = given === 'primary' ? ownNetworks(node) : given;
      const within = { 4: restriction(4, networks), 6: restriction(6, networks) };
      const others = node.hostAddresses.filter(isOrdinary).map(({ address }) => address);
      view = {
        elsewhere: new Set(others),
        nodePortAddresses: {
          4: nodePortAddresses(4, within[4], others, candidates),
          6: nodePortAddresses(6, within[6], others, candidates),
        },
        unrestricted: new Set(([4, 6] as const).filter((family) => !within[family])),
      };
      views.set(node, view);
    }
    return view;
  };
}

/** The node's own addresses, each a network of its own. */
function ownNetworks({ nodeIPs }: NodeFacts): string[] {
  const known = [nodeIPs[4], nodeIPs[6]].filter((address) => !isLoopback(address));
  return known.map((address) => `${address}/${familyOf(address) === 4 ? 32 : 128}`);
}

function isOrdinary({ link, address }: HostAddress): boolean {
  return link !== LINK && !isLoopback(address) && !isLinkLocalIPv6(address);
}

/** The networks that a family's node ports are kept to; undefined when any address will do. */
function restriction(family: Family, networks: readonly string[]): Network[] | undefined {
  const own = networks
    .flatMap((text) => parseNetwork(text) ?? [])
    .filter((network) => network.family === family);
  return own.length === 0 || own.some((network) => network.prefix === 0) ? undefined : own;
}

function nodePortAddresses(
  family: Family,
  within: readonly Network[] | undefined,
  others: readonly string[],
  all: readonly HostAddress[],
): string[] {
  const candidates = within
    ? all
        .map(({ address }) => address)
        .filter(
          (address) => !isLoopback(address) && within.some((network) => networkContains(network, address)),
        )
    : others;
  return [...new Set(candidates.filter((address) => familyOf(address) === family))];
}

/**
 * Whether node ports may stand on an address, or an external IP among the host's addresses would be reachable by it. An
 * address of our own device matters only where node ports are restricted to a network that it is in.
 */
export function isRelevant(
  hostAddress: HostAddress,
  node: NodeFacts,
  { nodePortAddresses: given, cures }: Pick<IpvsOptions, 'nodePortAddresses' | 'cures'>,
): boolean {
  const { link, address } = hostAddress;
  if (isOrdinary(hostAddress)) return true;
  if (isLoopback(address) || (link === LINK && cures.has('node-ports-off-vips'))) return false;
  const networks = given === 'primary' ? ownNetworks(node) : given;
  const within = restriction(familyOf(address), networks);
  return within?.some((network) => networkContains(network, address)) ?? false;
}

/** What differs for Services between two views of the host. */
export function hostChange(before: HostView, after: HostView): Pick<NodeChange, 'nodePorts' | 'addresses'> {
  const nodePorts = ({ nodePortAddresses }: HostView, family: Family) => new Set(nodePortAddresses[family]);
  return {
    nodePorts: ([4, 6] as const).some(
      (family) => symmetricDifference(nodePorts(before, family), nodePorts(after, family)).length > 0,
    ),
    addresses: symmetricDifference(before.elsewhere, after.elsewhere),
  };
}

/** Whether a change took an address from our device, or the device, or added an address that is not known. */
export function isDisturbedBy(known: ReadonlyMap<string, Item>, change: HostChange): boolean {
  if (change.deletedLinks.includes(LINK)) return known.has(LINK_KEY);
  const last = new Map(
    change.addresses
      .filter(({ link, address }) => link === LINK && !isLinkLocalIPv6(address))
      .map(({ address, deleted }) => [address, deleted]),
  );
  return [...last].some(([address, deleted]) => known.has(keyOf({ kind: 'address', address })) === deleted);
}

/** Whether our device lacks an address that is known, or has one that is not. */
export function isDisturbed(known: ReadonlyMap<string, Item>, addresses: readonly HostAddress[]): boolean {
  let bound = 0;
  for (const { link, address } of addresses) {
    if (link !== LINK || isLinkLocalIPv6(address)) continue;
    if (!known.has(keyOf({ kind: 'address', address }))) return true;
    bound++;
  }
  for (const item of known.values()) if (item.kind === 'address') bound--;
  return bound !== 0;
}
