// The messages that change routes.
import { type Family, familyOf, parseAddressAsIs } from '../../net/address.js';
import { checked, ipAddress, linkReference, refuseAttributes, writeFields } from '../fields.js';
import { flagSum } from '../flags.js';
import { MOST } from '../links/fields.js';
import type { LinkReference } from '../links/reference.js';
import { MessageWriter } from '../message.js';
import { AF, RTM, SCOPES, WRITE_FLAGS } from '../numbers.js';
import { checkFamily, checkPrefix, type Prefix, wholeFamily } from '../prefixes.js';
import {
  FLAGS,
  numberOf,
  PROTOCOLS,
  REALMS,
  RTA,
  routeProtocol,
  routeScope,
  routeTable,
  routeType,
  SCALARS,
  type Scalars,
  TABLES,
  TYPES,
} from './fields.js';
import { writeMetrics } from './metrics.js';
import type { NewRoute, NextHop, RouteHop } from './types.js';

const RT_TABLE_COMPAT = 252; // in rtm_table of a table whose number needs RTA_TABLE
const WRITTEN_FLAGS = FLAGS.onlink | FLAGS.pervasive;
const HOP_NAMES = ['gateway', 'link', 'linkIndex', 'realms', 'flags', 'attributes'];
const ROUTE_NAMES = new Set([
  ...Object.keys(SCALARS),
  ...HOP_NAMES,
  ...['destination', 'family', 'type', 'table', 'protocol', 'scope', 'source', 'tos', 'nextHops', 'metrics'],
  'resolved', // of one that was listed
]);
const NEXT_HOP_NAMES = new Set([...HOP_NAMES, 'weight']);

/** A verb on routes. */
type RouteVerb = keyof typeof WRITE_FLAGS;

/** The message that writes or deletes a route, with the defaults of iproute2. */
export function encodeRoute(verb: RouteVerb, route: NewRoute): MessageWriter {
  const writer = new MessageWriter(verb === 'delete' ? RTM.deleteRoute : RTM.newRoute, WRITE_FLAGS[verb]);
  if (!writer.check.object('route', route, ROUTE_NAMES, 'a route')) return writer;
  refuseAttributes(writer.check, 'route.', route);
  const destination = checkDestination(writer, route);
  const { family } = destination;
  const source =
    route.source === undefined ? undefined : checkPrefix(writer.check, 'route.source', route.source, family);
  const { type, protocol, scope, tos = 0 } = headerOf(writer, verb, route, family);
  const flags = flagSum(writer.check, 'route.flags', route.flags, FLAGS) & WRITTEN_FLAGS;
  const table = tableOf(writer, route);
  writer
    .u8(AF[family])
    .u8(destination.length)
    .u8(source?.length ?? 0)
    .u8(tos);
  writer
    .u8(table < 256 ? table : RT_TABLE_COMPAT)
    .u8(protocol)
    .u8(scope)
    .u8(type);
  writer.u32(flags);
  if (destination.length > 0) writer.attribute(RTA.destination, () => writer.bytes(destination.bytes));
  if (source) writer.attribute(RTA.source, () => writer.bytes(source.bytes));
  if (table >= 256) writer.attribute(RTA.table, () => writer.u32(table));
  writeFields<Scalars>(writer, 'route.', route, SCALARS);
  excludeOtherWays(writer, route);
  writeGateway(writer, 'route.', route, family);
  const link = linkOf(writer, 'route.', route);
  if (link !== undefined) writer.attribute(RTA.outputLink, () => writer.link(link));
  writeNextHops(writer, route, family);
  const { metrics } = route;
  if (metrics !== undefined && writer.check.isObject('route.metrics', metrics)) {
    writer.attribute(RTA.metrics, () => writeMetrics(writer, metrics));
  }
  return writer;
}

/** The destination of a route, of the family that it names. */
export function checkDestination(
  writer: MessageWriter,
  { destination, family, gateway }: Pick<NewRoute, 'destination' | 'family' | 'gateway'>,
): Prefix {
  const named = checkFamily(writer.check, 'route.family', family);
  if (destination === 'default') {
    const isSix = named === undefined && typeof gateway === 'string' && familyOf(gateway) === 6;
    return wholeFamily(named ?? (isSix ? 6 : 4));
  }
  return checkPrefix(writer.check, 'route.destination', destination, named) ?? wholeFamily(4);
}

function headerOf(writer: MessageWriter, verb: RouteVerb, route: NewRoute, family: Family) {
  const deletion = verb === 'delete';
  const { type, protocol, scope, tos, nextHopId } = route;
  // A route by a nexthop object that is a blackhole is listed with that type, whatever type it has.
  const isOpen = deletion && nextHopId !== undefined && type === 'blackhole';
  if (type !== undefined) checked(writer, 'route.type', type, routeType);
  if (protocol !== undefined) checked(writer, 'route.protocol', protocol, routeProtocol);
  if (scope !== undefined) checked(writer, 'route.scope', scope, routeScope);
  return {
    // A deletion without these deletes the first route that has the other fields.
    type: isOpen || type === undefined ? (deletion ? 0 : TYPES.unicast) : numberOf(type, TYPES),
    protocol: protocol === undefined ? (deletion ? 0 : PROTOCOLS.boot) : numberOf(protocol, PROTOCOLS),
    scope: scope === undefined ? defaultScope(route, deletion, family) : numberOf(scope, SCOPES),
    tos: tos === undefined ? 0 : writer.check.integer('route.tos', tos, 0, 255),
  };
}

/** As iproute2: iproute_modify. */
function defaultScope(
  { type = 'unicast', gateway, nextHops, nextHopId }: NewRoute,
  deletion: boolean,
  family: Family,
) {
  if (family === 6) return deletion ? SCOPES.nowhere : SCOPES.global;
  if (type === 'local') return SCOPES.host;
  if (type === 'broadcast' || type === 'multicast' || type === 'anycast') return SCOPES.link;
  if (type !== 'unicast') return deletion ? SCOPES.nowhere : SCOPES.global;
  if (deletion) return SCOPES.nowhere;
  return gateway === undefined && nextHops === undefined && nextHopId === undefined
    ? SCOPES.link
    : SCOPES.global;
}

/** The table of a route, by default that of its type. */
export function tableOf(writer: MessageWriter, { table, type }: Pick<NewRoute, 'table' | 'type'>): number {
  if (table === undefined) {
    const isLocal = type === 'local' || type === 'broadcast' || type === 'anycast';
    return isLocal ? TABLES.local : TABLES.main;
  }
  return checked(writer, 'route.table', table, routeTable) ? numberOf(table, TABLES) : 0;
}

/** A nexthop object, several nexthops, and the nexthop of the route itself exclude one another. */
function excludeOtherWays(writer: MessageWriter, route: NewRoute): void {
  const one = ['gateway', 'link', 'linkIndex'] as const;
  const excluded = [
    ...(route.nextHops === undefined ? [] : one.map((name) => [name, 'nextHops'] as const)),
    ...(route.nextHopId === undefined
      ? []
      : ([...one, 'nextHops'] as const).map((name) => [name, 'nextHopId'] as const)),
  ];
  for (const [name, by] of excluded) {
    if (route[name] !== undefined) writer.check.fail(`route.${name}`, route[name], `excludes ${by}`, true);
  }
}

function writeGateway(writer: MessageWriter, path: string, { gateway }: RouteHop, family: Family): void {
  if (gateway === undefined || !checked(writer, `${path}gateway`, gateway, ipAddress)) return;
  const bytes = parseAddressAsIs(gateway) ?? new Uint8Array();
  const ofFamily = bytes.length === 4 ? 4 : 6;
  if (ofFamily === family) writer.attribute(RTA.gateway, () => writer.bytes(bytes));
  else writer.attribute(RTA.via, () => writer.u16(AF[ofFamily]).bytes(bytes));
}

/** The link of a nexthop, by name or by index; undefined without one, or if it is invalid. */
function linkOf(writer: MessageWriter, path: string, hop: RouteHop): LinkReference | undefined {
  const { link, linkIndex: index } = hop;
  if (index !== undefined) {
    if (link !== undefined) writer.check.fail(`${path}linkIndex`, index, 'excludes link', true);
    return writer.check.integer(`${path}linkIndex`, index, 1, MOST);
  }
  return link !== undefined && checked(writer, `${path}link`, link, linkReference) ? link : undefined;
}

function writeNextHops(writer: MessageWriter, route: NewRoute, family: Family): void {
  const { nextHops } = route;
  if (nextHops === undefined) return;
  if (!Array.isArray(nextHops) || nextHops.length === 0) {
    writer.check.fail('route.nextHops', nextHops, 'must be an array of next hops', !Array.isArray(nextHops));
    return;
  }
  writer.attribute(RTA.multipath, () => {
    for (const [i, hop] of nextHops.entries()) writeNextHop(writer, `route.nextHops[${i}].`, hop, family);
  });
}

function writeNextHop(writer: MessageWriter, path: string, hop: NextHop, family: Family): void {
  if (!writer.check.isObject(path.slice(0, -1), hop)) return;
  writer.check.onlyFields(path, hop, NEXT_HOP_NAMES, 'a next hop');
  refuseAttributes(writer.check, path, hop);
  const { weight = 1 } = hop;
  const hops = writer.check.integer(`${path}weight`, weight, 1, 256) - 1;
  const flags = flagSum(writer.check, `${path}flags`, hop.flags, FLAGS) & WRITTEN_FLAGS;
  const link = linkOf(writer, path, hop);
  writer.struct(() => {
    writer
      .u8(flags)
      .u8(Math.max(hops, 0))
      .link(link ?? 0);
    writeGateway(writer, path, hop, family);
    writeFields<Pick<NextHop, 'realms'>>(writer, path, hop, REALMS);
  });
}
