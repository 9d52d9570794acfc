// The messages that change routes.
import { type Family, familyOf, parseAddressAsIs } from '../../../net/address.js';
import { checked, flagSum, ipAddress, linkIndex, writeFields } from '../fields.js';
import { MessageWriter } from '../message.js';
import { AF, RTM, SCOPES, WRITE_FLAGS } from '../numbers.js';
import { checkFamily, checkPrefix, type Prefix, wholeFamily } from '../prefixes.js';
import {
  FLAGS,
  numberOf,
  PROTOCOLS,
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
const HOP_NAMES = ['gateway', 'link', 'flags'];
const ROUTE_NAMES = new Set([
  ...Object.keys(SCALARS),
  ...HOP_NAMES,
  ...['destination', 'family', 'type', 'table', 'protocol', 'scope', 'source', 'tos', 'nextHops', 'metrics'],
  'linkIndex', // of one that was listed
]);
const NEXT_HOP_NAMES = new Set([...HOP_NAMES, 'weight']);

/** A verb on routes. */
export type RouteVerb = keyof typeof WRITE_FLAGS;

/** The message that writes or deletes a route, with the defaults of iproute2. */
export function encodeRoute(verb: RouteVerb, route: NewRoute): MessageWriter {
  const writer = new MessageWriter(verb === 'delete' ? RTM.deleteRoute : RTM.newRoute, WRITE_FLAGS[verb]);
  if (!writer.check.isObject('route', route)) return writer;
  writer.check.onlyFields('route.', route, ROUTE_NAMES, 'a route');
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
  writeHop(writer, 'route.', route, family);
  writeNextHops(writer, route, family);
  const { metrics } = route;
  if (metrics !== undefined && writer.check.isObject('route.metrics', metrics)) {
    writer.attribute(RTA.metrics, () => writeMetrics(writer, metrics));
  }
  return writer;
}

function checkDestination(writer: MessageWriter, { destination, family, gateway }: NewRoute): Prefix {
  const named = checkFamily(writer.check, 'route.family', family);
  if (destination === 'default') {
    const isSix = named === undefined && typeof gateway === 'string' && familyOf(gateway) === 6;
    return wholeFamily(named ?? (isSix ? 6 : 4));
  }
  return checkPrefix(writer.check, 'route.destination', destination, named) ?? wholeFamily(4);
}

function headerOf(writer: MessageWriter, verb: RouteVerb, route: NewRoute, family: Family) {
  const deletion = verb === 'delete';
  const { type, protocol, scope, tos } = route;
  if (type !== undefined) checked(writer, 'route.type', type, routeType);
  if (protocol !== undefined) checked(writer, 'route.protocol', protocol, routeProtocol);
  if (scope !== undefined) checked(writer, 'route.scope', scope, routeScope);
  return {
    // A deletion without these deletes the first route that has the other fields.
    type: type === undefined ? (deletion ? 0 : TYPES.unicast) : TYPES[type],
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

function tableOf(writer: MessageWriter, { table, type }: NewRoute): number {
  if (table === undefined) {
    const isLocal = type === 'local' || type === 'broadcast' || type === 'anycast';
    return isLocal ? TABLES.local : TABLES.main;
  }
  return checked(writer, 'route.table', table, routeTable) ? numberOf(table, TABLES) : 0;
}

function writeHop(writer: MessageWriter, path: string, { gateway, link }: RouteHop, family: Family): void {
  if (gateway !== undefined && checked(writer, `${path}gateway`, gateway, ipAddress)) {
    const bytes = parseAddressAsIs(gateway) ?? new Uint8Array();
    const ofFamily = bytes.length === 4 ? 4 : 6;
    if (ofFamily === family) writer.attribute(RTA.gateway, () => writer.bytes(bytes));
    else writer.attribute(RTA.via, () => writer.u16(AF[ofFamily]).bytes(bytes));
  }
  // A next hop has its link in its header.
  if (path !== 'route.') return;
  if (link !== undefined && checked(writer, `${path}link`, link, linkIndex)) {
    writer.attribute(RTA.outputLink, () => writer.link(link));
  }
}

function writeNextHops(writer: MessageWriter, route: NewRoute, family: Family): void {
  const { nextHops } = route;
  if (nextHops === undefined) return;
  if (!Array.isArray(nextHops) || nextHops.length === 0) {
    writer.check.fail('route.nextHops', nextHops, 'must be an array of next hops', !Array.isArray(nextHops));
    return;
  }
  for (const name of ['gateway', 'link', 'nextHopId'] as const) {
    if (route[name] !== undefined) writer.check.fail(`route.${name}`, route[name], 'excludes nextHops', true);
  }
  writer.attribute(RTA.multipath, () => {
    for (const [i, hop] of nextHops.entries()) writeNextHop(writer, `route.nextHops[${i}].`, hop, family);
  });
}

function writeNextHop(writer: MessageWriter, path: string, hop: NextHop, family: Family): void {
  if (!writer.check.isObject(path.slice(0, -1), hop)) return;
  writer.check.onlyFields(path, hop, NEXT_HOP_NAMES, 'a next hop');
  const { weight = 1, link } = hop;
  const hops = writer.check.integer(`${path}weight`, weight, 1, 256) - 1;
  const flags = flagSum(writer.check, `${path}flags`, hop.flags, FLAGS) & WRITTEN_FLAGS;
  if (link !== undefined && !checked(writer, `${path}link`, link, linkIndex)) return;
  writer.struct(() => {
    writer
      .u8(flags)
      .u8(Math.max(hops, 0))
      .link(link ?? 0);
    writeHop(writer, path, hop, family);
  });
}
