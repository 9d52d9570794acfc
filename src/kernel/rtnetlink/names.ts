// Names of operations and their targets in errors, in ip's notation, and hints.
import { shown } from '../shared/arguments.js';
import type { Attempt } from '../shared/failures.js';
import { describeNamespace } from './namespaces/codec.js';
import type {
  BridgeVlanId,
  ForwardingEntryId,
  NeighbourId,
  NewLinkAddress,
  NewRoute,
  RtnetlinkOperation,
  RuleName,
} from './types.js';

/** A verb that reads. */
export type ReadingVerb =
  | 'listLinks'
  | 'getLink'
  | 'listLinkStatistics'
  | 'getLinkStatistics'
  | 'listAddresses'
  | 'listRoutes'
  | 'getRoute'
  | 'listRules'
  | 'listNeighbours'
  | 'getNeighbour'
  | 'listNextHops'
  | 'getNextHop'
  | 'listBridgeVlans'
  | 'port'
  | 'listForwardingEntries'
  | 'listNamespaceIds'
  | 'getNamespaceId'
  | 'capabilities';

/** Names an operation, its target (`10.96.0.1/32 dev kube-ipvs0`, `dev kube-ipvs0`) and hints. */
export function attemptOf(operation: RtnetlinkOperation): Attempt {
  const hint = (code: string) => hintFor(operation, code);
  return { operation: `rtnetlink.${operation?.do}`, target: targetOf(operation), hint };
}

/** The same for a verb that reads. */
export function attemptToRead(verb: ReadingVerb, target?: string): Attempt {
  const hint = (code: string) => {
    if (verb !== 'getRoute' || code !== 'ENETUNREACH') return undefined;
    return 'no table that a rule leads to has a route to this address, and no link that is up has its network';
  };
  return { operation: `rtnetlink.${verb}`, target, hint };
}

/** `dev eth0`, for a link by name or index. */
export function describeLink(link: string | number | undefined): string | undefined {
  return link === undefined ? undefined : `dev ${shown(link)}`;
}

/** `10.0.0.1 dev eth0`. */
export function describeNeighbour(id: NeighbourId | undefined): string {
  return `${id?.proxy ? 'proxy ' : ''}${shown(id?.address)} dev ${shown(id?.link)}`;
}

function targetOf(operation: RtnetlinkOperation): string | undefined {
  switch (operation?.do) {
    case 'addLink':
      return `dev ${operation.name} type ${operation.kind}`;
    case 'setLink':
      return describeLink(operation.link);
    case 'deleteLink':
      return describeLink(operation.link ?? operation.name);
    case 'addAddress':
    case 'replaceAddress':
    case 'deleteAddress':
      return describeAddress(operation.address);
    case 'addRoute':
    case 'changeRoute':
    case 'replaceRoute':
    case 'appendRoute':
    case 'deleteRoute':
      return describeRoute(operation.route);
    case 'addRule':
    case 'deleteRule':
      return describeRule(operation.rule);
    case 'addNeighbour':
    case 'changeNeighbour':
    case 'replaceNeighbour':
    case 'deleteNeighbour':
      return describeNeighbour(operation.neighbour);
    case 'addNextHop':
    case 'replaceNextHop':
    case 'deleteNextHop':
      return describeNextHop(operation.nextHop?.id);
    case 'addBridgeVlan':
    case 'deleteBridgeVlan':
      return describeBridgeVlan(operation.bridgeVlan);
    case 'addForwardingEntry':
    case 'appendForwardingEntry':
    case 'replaceForwardingEntry':
    case 'deleteForwardingEntry':
      return describeForwardingEntry(operation.entry);
    case 'setNamespaceId':
      return describeNamespace(operation.namespaceId?.netns);
    default:
      return undefined;
  }
}

function describeBridgeVlan(id: BridgeVlanId | undefined): string {
  const last = id?.lastVlan === undefined ? '' : `-${shown(id.lastVlan)}`;
  return `vlan ${shown(id?.vlan)}${last} dev ${shown(id?.link)}`;
}

/** `02:00:00:00:00:01 dev va dst 192.0.2.7 vlan 10 master`, as bridge(8) has it. */
function describeForwardingEntry(id: ForwardingEntryId | undefined): string {
  const destination = id?.destination === undefined ? '' : ` dst ${shown(id.destination)}`;
  const vlan = id?.vlan === undefined ? '' : ` vlan ${shown(id.vlan)}`;
  const place = id?.master ? 'master' : 'self';
  return `${shown(id?.hardwareAddress)} dev ${shown(id?.link)}${destination}${vlan} ${place}`;
}

/** `nexthop 7`. */
export function describeNextHop(id: unknown): string {
  return `nexthop ${shown(id)}`;
}

function describeAddress(id: NewLinkAddress | undefined): string {
  const peer = id?.peer === undefined ? '' : ` peer ${id.peer}`;
  return `${id?.address}${peer}/${id?.prefix} dev ${id?.link}`;
}

function describeRoute(route: NewRoute | undefined): string {
  const parts: [string, unknown][] = [
    ['via', route?.gateway],
    ['dev', route?.link],
    ['table', route?.table],
    ['metric', route?.metric],
  ];
  const type = route?.type === undefined || route.type === 'unicast' ? '' : `${route.type} `;
  return `${type}${route?.destination}${joined(parts)}`;
}

function describeRule(rule: RuleName | undefined): string {
  const parts: [string, unknown][] = [
    ['priority', rule?.priority],
    ['from', rule?.from ?? 'all'],
    ['to', rule?.to],
    ['fwmark', rule?.mark?.value],
    ['iif', rule?.inputLink],
    ['oif', rule?.outputLink],
    ['lookup', rule?.table],
    ['goto', rule?.goto],
  ];
  return joined(parts).trimStart();
}

function joined(parts: readonly (readonly [string, unknown])[]): string {
  return parts.map(([word, value]) => (value === undefined ? '' : ` ${word} ${String(value)}`)).join('');
}

/** Modules of kinds that have another name. */
const MODULES: Readonly<Record<string, string>> = { vlan: '8021q', bond: 'bonding' };

function hintFor(operation: RtnetlinkOperation, code: string): string | undefined {
  switch (operation.do) {
    case 'addLink': {
      if (code !== 'EOPNOTSUPP') return undefined;
      const { kind } = operation;
      return `the kernel does not know this kind: load its module (modprobe ${MODULES[kind] ?? kind})`;
    }
    case 'addAddress':
    case 'replaceAddress': {
      const { link } = operation.address;
      if (code === 'ENODEV') return `there is no link ${link}`;
      return code === 'EACCES' ? `IPv6 is disabled: net.ipv6.conf.${link}.disable_ipv6` : undefined;
    }
    case 'addRoute':
    case 'changeRoute':
    case 'replaceRoute':
    case 'appendRoute':
      return routeHint(operation.route, code);
    default:
      return undefined;
  }
}

function routeHint({ gateway, link, nextHops, preferredSource }: NewRoute, code: string): string | undefined {
  const gateways = gateway ?? nextHops?.map((hop) => hop.gateway).join(', ');
  switch (code) {
    case 'ENETUNREACH':
    case 'EHOSTUNREACH':
      if (!gateways) return undefined;
      return `no link that is up has a network with the gateway ${gateways}: add an address or a route for it first, or the flag onlink`;
    case 'ENETDOWN':
      return `the link ${link ?? 'to the gateway'} is down: set it up first`;
    case 'EINVAL':
      return preferredSource === undefined ? undefined : `${preferredSource} must be an address of this host`;
    default:
      return undefined;
  }
}
