// Hints to the errors of operations: each is true for every cause that the kernel has for the code and its message, or is left out.
import { HOST, hasModule, type Machine, moduleHint, recent } from '../shared/hints.js';
import type {
  LinkReference,
  NewLinkSettings,
  NewNextHopObject,
  NewRoute,
  RouteQuery,
  RtnetlinkOperation,
  TunnelKind,
} from './types.js';

/** The modules of kinds. A kind without one here has no hint: netkit is never a module, and no module is known of other names. */
const MODULES: Readonly<Record<string, string>> = {
  ...{ vlan: '8021q', bond: 'bonding', gre: 'ip_gre', gretap: 'ip_gre', erspan: 'ip_gre', vti: 'ip_vti' },
  ...{ ip6gre: 'ip6_gre', ip6gretap: 'ip6_gre', ip6erspan: 'ip6_gre', ip6tnl: 'ip6_tunnel', vti6: 'ip6_vti' },
  ...{ xfrm: 'xfrm_interface', can: 'can_dev' },
  ...Object.fromEntries(
    [
      ...['bareudp', 'bridge', 'dummy', 'geneve', 'gtp', 'hsr', 'ifb', 'ipip', 'ipvlan', 'ipvtap', 'macsec'],
      ...['macvlan', 'macvtap', 'nlmon', 'sit', 'team', 'vcan', 'veth', 'vrf', 'vsockmon', 'vxlan'],
      'wireguard',
    ].map((kind) => [kind, kind]),
  ),
};
/** The kernel's words for a kind that it does not know. It has the same code for a setting that it does not know. */
const UNKNOWN_KIND = 'Unknown device type';
/** Its words for a preferred source that is no address of the host, of IPv4 and IPv6. */
const NO_SOURCE: ReadonlySet<string | undefined> = new Set([
  'Invalid prefsrc address',
  'Invalid source address',
]);
/** Its words for a link that is down. Those for a link without a carrier are others. */
const IS_DOWN = /is not up$/;

/** The hint to an error of an operation. `said` is the message of the kernel. */
export function hintFor(
  operation: RtnetlinkOperation,
  code: string,
  said: string | undefined,
): string | undefined {
  if (code === 'ENODEV') return missingLink(operation);
  switch (operation.do) {
    case 'addLink':
      return newLinkHint(operation, code, said);
    case 'addForwardingEntry':
      // The kernel adds an entry without a VLAN to all VLANs of the port, and stops at the first that has one.
      return code === 'EEXIST' && operation.entry.master === true && operation.entry.vlan === undefined
        ? 'the port has an entry for this address, without a VLAN or in one of its VLANs: replaceForwardingEntry() changes them'
        : undefined;
    case 'addAddress':
    case 'replaceAddress':
      // The kernel refuses an address with this code for this reason alone.
      return code === 'EACCES' ? 'IPv6 is disabled on the link: disable_ipv6 in net.ipv6.conf' : undefined;
    case 'addRoute':
    case 'changeRoute':
    case 'replaceRoute':
    case 'appendRoute':
      return routeHint(operation.route, code, said);
    case 'addNextHop':
    case 'replaceNextHop':
      return routeHint(operation.nextHop, code, said);
    default:
      return undefined;
  }
}

/** Tunnels of IP, with the name of the link that the kernel may make of each kind: it has no ends and no keys. */
const OF_THE_KERNEL: Readonly<Record<TunnelKind, string | undefined>> = {
  ...{ gre: 'gre0', gretap: 'gretap0', ip6gre: 'ip6gre0', ip6gretap: undefined, ip6tnl: 'ip6tnl0' },
  ...{ ipip: 'tunl0', sit: 'sit0' },
};

function newLinkHint(
  { kind, name, settings }: Extract<RtnetlinkOperation, { readonly do: 'addLink' }>,
  code: string,
  said: string | undefined,
): string | undefined {
  switch (code) {
    case 'EOPNOTSUPP':
      return said === UNKNOWN_KIND ? recent(`kind ${kind}`, () => unknownKindHint(kind)) : undefined;
    case 'ENOTCONN':
      if (kind !== 'veth' || (settings as NewLinkSettings | undefined)?.peer?.up !== true) return undefined;
      return 'the peer of a veth is not set up while it is created: set it up when both ends exist';
    case 'EEXIST': {
      if (!Object.hasOwn(OF_THE_KERNEL, kind)) return undefined;
      const own = OF_THE_KERNEL[kind as TunnelKind];
      const taken = settings?.index === undefined ? `the name ${name}` : `the name ${name} or the index`;
      return `another link has ${taken}, or another tunnel of this kind has these ends and keys${own === undefined ? '' : `: without them, it may be ${own}`}`;
    }
    case 'EBUSY':
      return kind === 'geneve' && said === undefined
        ? 'another tunnel of Geneve has this number, this other end and this port'
        : undefined;
    default:
      return undefined;
  }
}

/** The hint to a kind that the kernel does not know: it has tried to load the module. */
export function unknownKindHint(kind: string, machine: Machine = HOST): string | undefined {
  const module = Object.hasOwn(MODULES, kind) ? MODULES[kind] : undefined;
  return module === undefined || hasModule(module, machine) ? undefined : moduleHint(module, machine);
}

/** The indices of links that an operation names. A name that no link has is an error of its own, which names it. */
function indicesIn(operation: RtnetlinkOperation): readonly number[] {
  const { link, settings, address, route, neighbour, nextHop, bridgeVlan, entry } = operation as Partial<
    Readonly<Record<string, unknown>>
  > as Readonly<Record<string, Record<string, unknown> | undefined>>;
  const named: unknown[] = [
    link,
    settings?.['link'],
    (settings?.['vxlan'] as { link?: unknown } | undefined)?.link,
  ];
  for (const object of [address, neighbour, nextHop, bridgeVlan, entry]) named.push(object?.['link']);
  named.push(entry?.['outputLink']);
  const hops = route?.['nextHops'];
  for (const hop of [route, ...(Array.isArray(hops) ? hops : [])]) named.push(hop?.link, hop?.linkIndex);
  return named.filter((each) => typeof each === 'number');
}

function missingLink(operation: RtnetlinkOperation): string | undefined {
  const indices = indicesIn(operation);
  if (indices.length === 0) return undefined;
  // A link with a small MTU has no IPv4, and the kernel refuses a route by it with this code.
  const without = 'route' in operation ? ', or it has no IP of this version' : '';
  if (indices.length === 1) return `there is no link with the index ${indices[0]}${without}`;
  return `there is no link with one of the indices ${indices.join(', ')}${without}`;
}

/** `10.1.0.2 dev va` is a way of a route. */
interface Way {
  readonly gateway?: string | undefined;
  readonly link?: LinkReference | undefined;
  readonly linkIndex?: number | undefined;
}

function waysOf(given: NewRoute | NewNextHopObject): readonly Way[] {
  const { nextHops, ...own } = given as Way & { readonly nextHops?: readonly Way[] };
  return nextHops ?? [own];
}

function routeHint(
  given: NewRoute | NewNextHopObject,
  code: string,
  said: string | undefined,
): string | undefined {
  switch (code) {
    case 'ENETUNREACH':
    case 'EHOSTUNREACH':
      return gatewayHint(waysOf(given));
    case 'ENETDOWN':
      return said === undefined || IS_DOWN.test(said) ? downHint(waysOf(given)) : undefined;
    case 'EINVAL': {
      const { preferredSource } = given as NewRoute;
      return preferredSource !== undefined && NO_SOURCE.has(said)
        ? `${preferredSource} must be an address of this host`
        : undefined;
    }
    default:
      return undefined;
  }
}

function gatewayHint(ways: readonly Way[]): string | undefined {
  const gateways = ways.flatMap(({ gateway }) => gateway ?? []);
  const [gateway] = gateways;
  const way = ways.find((each) => each.gateway !== undefined);
  if (gateway === undefined || way === undefined) return undefined;
  const remedy = 'add an address or a route for it first, or the flag onlink';
  if (gateways.length > 1)
    return `one of the gateways ${gateways.join(', ')} is in no network of its link, or of any link that is up: ${remedy}`;
  const link = way.link ?? way.linkIndex;
  if (link === undefined) return `no link that is up has a network with the gateway ${gateway}: ${remedy}`;
  return `the link ${link} has no network with the gateway ${gateway}, or is down: ${remedy}`;
}

function downHint(ways: readonly Way[]): string {
  const [way] = ways;
  if (ways.length > 1) return 'the link of one of the ways is down: set it up first';
  return `the link ${way?.link ?? way?.linkIndex ?? 'to the gateway'} is down: set it up first`;
}

/** The hint to a question for a route: with a source or a link, there may be a route that is not for them. */
export function questionHint(code: string, query: RouteQuery = {}): string | undefined {
  const { from, inputLink, outputLink } = query;
  if (code !== 'ENETUNREACH' || from !== undefined || inputLink !== undefined || outputLink !== undefined)
    return undefined;
  return 'no table that a rule leads to has a route to this address, and no link that is up has its network; or a rule answers unreachable';
}

/** Whether lo may be the cause of an error, if it is down: a preferred source that is refused, or a way that is. */
export function mayBeLoopback(code: string, said: string | undefined): boolean {
  if (code === 'EINVAL') return NO_SOURCE.has(said);
  return code === 'ENETUNREACH' || code === 'EHOSTUNREACH' || code === 'ENETDOWN';
}
