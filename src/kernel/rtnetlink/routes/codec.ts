// Routes ↔ messages. Numbers: include/uapi/linux/rtnetlink.h (RTA_, RTN_, RTPROT_, RTNH_F_).
import { type Family, familyOf, formatAddress, parseAddress } from '../../../net/address.js';
import type { AttributeCursor } from '../../wire/attributeCursor.js';
import {
  checked,
  choice,
  type Fields,
  field,
  flagNames,
  flagSum,
  integer,
  ipAddress,
  type LinkNames,
  linkIndex,
  type Numbers,
  nameOf,
  nameOrNumber,
  namesOf,
  readField,
  writeFields,
} from '../fields.js';
import { type Message, MessageWriter } from '../message.js';
import { AF, familyOfNumber, NLM_F, RTM, SCOPES, WRITE_FLAGS } from '../numbers.js';
import { checkFamily, checkPrefix, formatPrefix, type Prefix, wholeFamily } from '../prefixes.js';
import { readMetrics, writeMetrics } from './metrics.js';
import type {
  NewRoute,
  NextHop,
  Route,
  RouteFilter,
  RouteFlag,
  RouteHop,
  RouteProtocol,
  RouteQuery,
  RouterPreference,
  RouteTable,
  RouteType,
} from './types.js';

const RTA = {
  destination: 1,
  source: 2,
  inputLink: 3,
  outputLink: 4,
  gateway: 5,
  priority: 6,
  metrics: 8,
  multipath: 9,
  cacheInfo: 12,
  table: 15,
  via: 18,
} as const;
const HEADER_SIZE = 12; // struct rtmsg
const HOP_SIZE = 8; // struct rtnexthop
const RTM_F_CLONED = 0x200;
const RTM_F_LOOKUP_TABLE = 0x1000;
const RTM_F_FIB_MATCH = 0x2000;
const EXPIRES_OFFSET = 8; // rta_cacheinfo.rta_expires, in hundredths of a second
const RT_TABLE_COMPAT = 252; // in rtm_table of a table whose number needs RTA_TABLE

const TYPES: Numbers<RouteType> = {
  unicast: 1,
  local: 2,
  broadcast: 3,
  anycast: 4,
  multicast: 5,
  blackhole: 6,
  unreachable: 7,
  prohibit: 8,
  throw: 9,
};
const PROTOCOLS: Numbers<Extract<RouteProtocol, string>> = {
  unspec: 0,
  redirect: 1,
  kernel: 2,
  boot: 3,
  static: 4,
  gated: 8,
  ra: 9,
  mrt: 10,
  zebra: 11,
  bird: 12,
  dnrouted: 13,
  xorp: 14,
  ntk: 15,
  dhcp: 16,
  mrouted: 17,
  keepalived: 18,
  babel: 42,
  bgp: 186,
  isis: 187,
  ospf: 188,
  rip: 189,
  eigrp: 192,
};
const TABLES: Numbers<Extract<RouteTable, string>> = { default: 253, main: 254, local: 255 };
const FLAGS: Numbers<RouteFlag> = {
  dead: 1,
  pervasive: 2,
  onlink: 4,
  offload: 8,
  linkdown: 16,
  unresolved: 32,
  trap: 64,
};
const WRITTEN_FLAGS = FLAGS.onlink | FLAGS.pervasive;

const routeType = choice('u8', TYPES);
/** An origin of routes, rules and neighbours. */
export const routeProtocol = nameOrNumber('u8', PROTOCOLS);
/** A table of routes. */
export const routeTable = nameOrNumber('u32', TABLES);
/** A scope of routes and addresses. */
export const routeScope = nameOrNumber('u8', SCOPES);

type Scalars = Pick<NewRoute, 'preferredSource' | 'metric' | 'preference' | 'expires' | 'nextHopId'>;
const SCALARS: Fields<Scalars> = {
  metric: field(RTA.priority, integer('u32')),
  preferredSource: field(7, ipAddress),
  preference: field(20, choice<RouterPreference>('u8', { low: 3, medium: 0, high: 1 })),
  expires: field(23, integer('u32')),
  nextHopId: field(30, integer('u32', 1)),
};
const QUERY: Fields<Pick<RouteQuery, 'mark' | 'uid' | 'ipProtocol' | 'sourcePort' | 'destinationPort'>> = {
  mark: field(16, integer('u32')),
  uid: field(25, integer('u32')),
  ipProtocol: field(27, integer('u8', 1)),
  sourcePort: field(28, integer('u16be')),
  destinationPort: field(29, integer('u16be')),
};

const HOP_NAMES = ['gateway', 'link', 'flags'];
const ROUTE_NAMES = new Set([
  ...Object.keys(SCALARS),
  ...HOP_NAMES,
  ...['destination', 'family', 'type', 'table', 'protocol', 'scope', 'source', 'tos', 'nextHops', 'metrics'],
  'linkIndex', // of one that was listed
]);
const NEXT_HOP_NAMES = new Set([...HOP_NAMES, 'weight']);
const QUERY_NAMES = new Set([...Object.keys(QUERY), 'from', 'inputLink', 'outputLink', 'tos', 'fibMatch']);
const FILTER_NAMES = new Set(['family', 'table', 'protocol', 'type', 'link']);

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

/** The number of a name, or a number as it is. */
export function numberOf<Name extends string>(value: Name | number, numbers: Numbers<Name>): number {
  return typeof value === 'number' ? value : numbers[value];
}

function writeHop(writer: MessageWriter, path: string, { gateway, link }: RouteHop, family: Family): void {
  if (gateway !== undefined && checked(writer, `${path}gateway`, gateway, ipAddress)) {
    const bytes = parseAddress(gateway) ?? new Uint8Array();
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
  if (link !== undefined) checked(writer, `${path}link`, link, linkIndex);
  writer.struct(() => {
    writer
      .u8(flags)
      .u8(Math.max(hops, 0))
      .link(link ?? 0);
    writeHop(writer, path, hop, family);
  });
}

/** The message that lists routes. The kernel applies the filter since 4.20. */
export function encodeListRoutes(filter: RouteFilter = {}): MessageWriter {
  const writer = new MessageWriter(RTM.getRoute, NLM_F.dump);
  if (!writer.check.isObject('filter', filter)) return writer;
  writer.check.onlyFields('filter.', filter, FILTER_NAMES, 'a filter of routes');
  const { table, protocol, type, link } = filter;
  const family = checkFamily(writer.check, 'filter.family', filter.family);
  if (type !== undefined) checked(writer, 'filter.type', type, routeType);
  if (protocol !== undefined) checked(writer, 'filter.protocol', protocol, routeProtocol);
  writer
    .u8(family === undefined ? 0 : AF[family])
    .u8(0)
    .u8(0)
    .u8(0);
  writer
    .u8(0)
    .u8(protocol === undefined ? 0 : numberOf(protocol, PROTOCOLS))
    .u8(0);
  writer.u8(type === undefined ? 0 : TYPES[type]).u32(0);
  if (table !== undefined && checked(writer, 'filter.table', table, routeTable)) {
    writer.attribute(RTA.table, () => writer.u32(numberOf(table, TABLES)));
  }
  if (link !== undefined && checked(writer, 'filter.link', link, linkIndex)) {
    writer.attribute(RTA.outputLink, () => writer.link(link));
  }
  return writer;
}

/** Whether a route passes a filter that the kernel ignored, or knows only in part. */
export function passes(route: Route, { family, table, protocol, type }: RouteFilter): boolean {
  return (
    (family === undefined || route.family === family) &&
    (table === undefined || numberOf(route.table, TABLES) === numberOf(table, TABLES)) &&
    (protocol === undefined || numberOf(route.protocol, PROTOCOLS) === numberOf(protocol, PROTOCOLS)) &&
    (type === undefined || route.type === type)
  );
}

/** The message that asks for the route to an address. */
export function encodeGetRoute(address: string, query: RouteQuery = {}): MessageWriter {
  const writer = new MessageWriter(RTM.getRoute, NLM_F.acknowledge);
  if (!writer.check.isObject('query', query)) return writer;
  writer.check.onlyFields('query.', query, QUERY_NAMES, 'a query for a route');
  if (!checked(writer, 'address', address, ipAddress)) return writer;
  const destination = checkPrefix(writer.check, 'address', address) ?? wholeFamily(4);
  const { from, inputLink, outputLink, tos = 0, fibMatch = false } = query;
  const source =
    from === undefined ? undefined : checkPrefix(writer.check, 'query.from', from, destination.family);
  if (typeof fibMatch !== 'boolean')
    writer.check.fail('query.fibMatch', fibMatch, 'must be true or false', true);
  writer
    .u8(AF[destination.family])
    .u8(destination.length)
    .u8(source?.length ?? 0);
  writer
    .u8(writer.check.integer('query.tos', tos, 0, 255))
    .u8(0)
    .u8(0)
    .u8(0)
    .u8(0);
  writer.u32(RTM_F_LOOKUP_TABLE | (fibMatch ? RTM_F_FIB_MATCH : 0));
  writer.attribute(RTA.destination, () => writer.bytes(destination.bytes));
  if (source) writer.attribute(RTA.source, () => writer.bytes(source.bytes));
  for (const [name, link, attribute] of [
    ['inputLink', inputLink, RTA.inputLink],
    ['outputLink', outputLink, RTA.outputLink],
  ] as const) {
    if (link !== undefined && checked(writer, `query.${name}`, link, linkIndex)) {
      writer.attribute(attribute, () => writer.link(link));
    }
  }
  writeFields<RouteQuery>(writer, 'query.', query, QUERY);
  return writer;
}

const flagsOf = flagNames(FLAGS);

/** Reads a route. Undefined for one of another family, and for a copy of a route that the kernel made for one packet. */
export function readRoute(message: Message, links: LinkNames, isAnswer = false): Route | undefined {
  const family = familyOfNumber(message.u8(0));
  const flags = message.u32(8);
  if (family === undefined || (!isAnswer && flags & RTM_F_CLONED)) return undefined;
  const type = nameOf(TYPES, message.u8(7));
  if (type === undefined) return undefined; // nat, of Linux before 2.6
  const route: Record<string, unknown> = {
    destination: '',
    family,
    type,
    table: nameOf(TABLES, message.u8(4)) ?? message.u8(4),
    protocol: nameOf(PROTOCOLS, message.u8(5)) ?? message.u8(5),
    scope: nameOf(SCOPES, message.u8(6)) ?? message.u8(6),
    flags: flagsOf(flags & 0xff),
  };
  if (message.u8(3) !== 0) route['tos'] = message.u8(3);
  for (const attributes = message.attributes(HEADER_SIZE); attributes.next(); ) {
    if (attributes.type === RTA.destination)
      route['destination'] = formatPrefix(family, attributes, message.u8(1));
    else if (attributes.type === RTA.source)
      route['source'] = formatPrefix(family, attributes, message.u8(2));
    else readAttribute(attributes, route, family, links);
  }
  if (route['destination'] === '') route['destination'] = formatPrefix(family, undefined, message.u8(1));
  return route as unknown as Route;
}

function readAttribute(
  attribute: AttributeCursor,
  route: Record<string, unknown>,
  family: Family,
  links: LinkNames,
): void {
  switch (attribute.type) {
    case RTA.table:
      route['table'] = routeTable.read(attribute, links);
      break;
    case RTA.outputLink: {
      const link = links.get(attribute.u32());
      if (link === undefined) route['linkIndex'] = attribute.u32();
      else route['link'] = link;
      break;
    }
    case RTA.gateway:
    case RTA.via:
      route['gateway'] = readGateway(attribute);
      break;
    case RTA.multipath:
      route['nextHops'] = [...readNextHops(attribute, links)];
      break;
    case RTA.metrics:
      route['metrics'] = readMetrics(attribute.nested(), links);
      break;
    case RTA.cacheInfo:
      if (family === 6 && attribute.i32(EXPIRES_OFFSET) > 0) {
        route['expires'] = Math.ceil(attribute.i32(EXPIRES_OFFSET) / 100);
      }
      break;
    default:
      readField(attribute, SCALARS, namesOf(SCALARS), route, links);
  }
}

/** An address of the route's family, or struct rtvia. */
function readGateway(attribute: AttributeCursor): string {
  const start = attribute.type === RTA.via ? 2 : 0;
  return formatAddress(attribute.bytes(start, attribute.length - start > 4 ? 16 : 4));
}

function* readNextHops(attribute: AttributeCursor, links: LinkNames): Generator<NextHop, void> {
  for (let at = 0; at < attribute.length; ) {
    const length = attribute.u16(at);
    if (length < HOP_SIZE) throw attribute.malformed('with a next hop that is too short');
    const link = links.get(attribute.u32(at + 4));
    let gateway: string | undefined;
    for (const inner = attribute.nested(at + HOP_SIZE, length - HOP_SIZE); inner.next(); ) {
      if (inner.type === RTA.gateway || inner.type === RTA.via) gateway = readGateway(inner);
    }
    yield {
      ...(gateway !== undefined && { gateway }),
      ...(link !== undefined && { link }),
      weight: attribute.u8(at + 3) + 1,
      flags: flagsOf(attribute.u8(at + 2)),
    };
    at += (length + 3) & ~3;
  }
}
