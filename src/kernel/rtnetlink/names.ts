// Names of operations and their targets in errors, in ip's notation, and hints.
import { shown } from '../shared/arguments.js';
import type { Attempt } from '../shared/failures.js';
import { hintFor, questionHint } from './hints.js';
import { describeNamespace } from './namespaces/codec.js';
import type {
  BridgeVlanId,
  ForwardingEntryId,
  NeighbourId,
  NewLinkAddress,
  NewRoute,
  RouteQuery,
  RtnetlinkOperation,
  RuleName,
} from './types.js';

/** A verb that reads. */
type ReadingVerb =
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
  const hint = (code: string, said: string | undefined) => hintFor(operation, code, said);
  return { operation: `rtnetlink.${operation?.do}`, target: targetOf(operation), hint };
}

/** The same for a verb that reads. */
export function attemptToRead(verb: ReadingVerb, target?: string): Attempt {
  return { operation: `rtnetlink.${verb}`, target };
}

/** The same for a question for the route to an address. */
export function attemptToAsk(address: string, query: RouteQuery | undefined): Attempt {
  const hint = (code: string) => questionHint(code, query);
  return { ...attemptToRead('getRoute', address), hint };
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
    case 'addAlternativeName':
    case 'deleteAlternativeName':
      return `${describeLink(operation.link)} altname ${shown(operation.name)}`;
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
