// Reads routes from messages.
import { type Family, formatAddress } from '../../net/address.js';
import type { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import { type Ignored, type LinkNames, nameOf, readField } from '../fields.js';
import { flagNames } from '../flags.js';
import type { Message } from '../message.js';
import { familyOfNumber, SCOPES } from '../numbers.js';
import { formatPrefix } from '../prefixes.js';
import {
  FLAGS,
  HEADER_SIZE,
  numberOf,
  PROTOCOLS,
  REALMS,
  RTA,
  routeTable,
  SCALARS,
  TABLES,
  TYPES,
} from './fields.js';
import { readMetrics } from './metrics.js';
import type { ListedNextHop, Route, RouteFilter } from './types.js';

const HOP_SIZE = 8; // struct rtnexthop
const RTM_F_CLONED = 0x200;
const EXPIRES_OFFSET = 8; // rta_cacheinfo.rta_expires, in hundredths of a second

/** RTM_F_: what the kernel says about its answer, or about its copy of the route in a device. */
const ABOUT_THE_ANSWER = 0x2000_ff00;
/** Of the answers of getRoute(): the question again. */
const IGNORED: Ignored = new Set([RTA.inputLink, RTA.mark, RTA.user, RTA.padding]);

const flagsOf = flagNames(FLAGS, ABOUT_THE_ANSWER);

/** Fields of a route that is being read. */
type Fields = Record<string, unknown>;

/** Reads a route. Undefined for one of another family, and for a copy of a route that the kernel made for one packet. */
export function readRoute(message: Message, links: LinkNames, isAnswer = false): Route | undefined {
  const family = familyOfNumber(message.u8(0));
  const flags = message.u32(8);
  if (family === undefined || (!isAnswer && flags & RTM_F_CLONED)) return undefined;
  const route: Fields = {
    destination: '',
    family,
    type: nameOf(TYPES, message.u8(7)) ?? message.u8(7),
    table: nameOf(TABLES, message.u8(4)) ?? message.u8(4),
    protocol: nameOf(PROTOCOLS, message.u8(5)) ?? message.u8(5),
    scope: nameOf(SCOPES, message.u8(6)) ?? message.u8(6),
    flags: flagsOf(flags),
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
  return (route['nextHopId'] === undefined ? route : withoutResolved(route)) as unknown as Route;
}

/** A route by a nexthop object is written without its nexthops, which the kernel lists as if they were the route's own. */
function withoutResolved({ gateway, link, linkIndex, nextHops, flags, ...route }: Fields): Fields {
  const hop = { gateway, link, linkIndex };
  const known = Object.entries(hop).filter(([, value]) => value !== undefined);
  const hops = nextHops ?? (known.length > 0 && [{ ...Object.fromEntries(known), weight: 1, flags }]);
  return { ...route, flags: flagsOf(0), ...(hops !== false && { resolved: hops }) };
}

function readAttribute(attribute: AttributeCursor, route: Fields, family: Family, links: LinkNames): void {
  switch (attribute.type) {
    case RTA.table:
      route['table'] = routeTable.read(attribute, links);
      break;
    case RTA.outputLink:
      Object.assign(route, readLink(attribute.u32(), links));
      break;
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
      readField(attribute, SCALARS, route, links, IGNORED);
  }
}

/** The name of a link, or its index if the names that were listed do not have it; 0 means no link. */
function readLink(index: number, links: LinkNames): Pick<ListedNextHop, 'link' | 'linkIndex'> {
  const link = links.get(index);
  if (link !== undefined) return { link };
  return index === 0 ? {} : { linkIndex: index };
}

/** An address of the route's family, or struct rtvia. */
function readGateway(attribute: AttributeCursor): string {
  const start = attribute.type === RTA.via ? 2 : 0;
  return formatAddress(attribute.bytes(start, attribute.length - start > 4 ? 16 : 4));
}

function* readNextHops(attribute: AttributeCursor, links: LinkNames): Generator<ListedNextHop, void> {
  for (let at = 0; at < attribute.length; ) {
    const length = attribute.u16(at);
    if (length < HOP_SIZE) throw attribute.malformed('with a next hop that is too short');
    const hop: Fields = {};
    for (const inner = attribute.nested(at + HOP_SIZE, length - HOP_SIZE); inner.next(); ) {
      if (inner.type === RTA.gateway || inner.type === RTA.via) hop['gateway'] = readGateway(inner);
      else readField(inner, REALMS, hop, links);
    }
    yield {
      ...hop,
      ...readLink(attribute.u32(at + 4), links),
      weight: attribute.u8(at + 3) + 1,
      flags: flagsOf(attribute.u8(at + 2)),
    };
    at += (length + 3) & ~3;
  }
}

/** Whether a route passes a filter that the kernel ignored, or knows only in part. */
export function passes(route: Route, { family, table, protocol, type }: RouteFilter): boolean {
  return (
    (family === undefined || route.family === family) &&
    (table === undefined || numberOf(route.table, TABLES) === numberOf(table, TABLES)) &&
    (protocol === undefined || numberOf(route.protocol, PROTOCOLS) === numberOf(protocol, PROTOCOLS)) &&
    (type === undefined || numberOf(route.type, TYPES) === numberOf(type, TYPES))
  );
}
