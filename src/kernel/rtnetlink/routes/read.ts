// Reads routes from messages.
import { type Family, formatAddress } from '../../../net/address.js';
import type { AttributeCursor } from '../../wire/attributeCursor.js';
import { flagNames, type LinkNames, nameOf, namesOf, readField } from '../fields.js';
import type { Message } from '../message.js';
import { familyOfNumber, SCOPES } from '../numbers.js';
import { formatPrefix } from '../prefixes.js';
import {
  FLAGS,
  HEADER_SIZE,
  numberOf,
  PROTOCOLS,
  RTA,
  routeTable,
  SCALARS,
  TABLES,
  TYPES,
} from './fields.js';
import { readMetrics } from './metrics.js';
import type { NextHop, Route, RouteFilter } from './types.js';

const HOP_SIZE = 8; // struct rtnexthop
const RTM_F_CLONED = 0x200;
const EXPIRES_OFFSET = 8; // rta_cacheinfo.rta_expires, in hundredths of a second

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

/** Whether a route passes a filter that the kernel ignored, or knows only in part. */
export function passes(route: Route, { family, table, protocol, type }: RouteFilter): boolean {
  return (
    (family === undefined || route.family === family) &&
    (table === undefined || numberOf(route.table, TABLES) === numberOf(table, TABLES)) &&
    (protocol === undefined || numberOf(route.protocol, PROTOCOLS) === numberOf(protocol, PROTOCOLS)) &&
    (type === undefined || route.type === type)
  );
}
