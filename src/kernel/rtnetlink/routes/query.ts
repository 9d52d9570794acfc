// The messages that list routes, and that ask for one.
import { checked, type Fields, field, integer, ipAddress, linkReference, writeFields } from '../fields.js';
import { MessageWriter } from '../message.js';
import { AF, NLM_F, RTM } from '../numbers.js';
import { checkFamily, checkPrefix, wholeFamily } from '../prefixes.js';
import { numberOf, PROTOCOLS, RTA, routeProtocol, routeTable, routeType, TABLES, TYPES } from './fields.js';
import type { RouteFilter, RouteQuery } from './types.js';

const RTM_F_LOOKUP_TABLE = 0x1000;
const RTM_F_FIB_MATCH = 0x2000;
const QUERY: Fields<Pick<RouteQuery, 'mark' | 'uid' | 'ipProtocol' | 'sourcePort' | 'destinationPort'>> = {
  mark: field(16, integer('u32')),
  uid: field(25, integer('u32')),
  ipProtocol: field(27, integer('u8', 1)),
  sourcePort: field(28, integer('u16be')),
  destinationPort: field(29, integer('u16be')),
};
const QUERY_NAMES = new Set([...Object.keys(QUERY), 'from', 'inputLink', 'outputLink', 'tos', 'fibMatch']);
const FILTER_NAMES = new Set(['family', 'table', 'protocol', 'type', 'link']);

/** The message that lists routes. The kernel applies the filter since 4.20. */
export function encodeListRoutes(filter: RouteFilter = {}): MessageWriter {
  const writer = new MessageWriter(RTM.getRoute, NLM_F.dump);
  if (!writer.check.object('filter', filter, FILTER_NAMES, 'a filter of routes')) return writer;
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
  writer.u8(type === undefined ? 0 : numberOf(type, TYPES)).u32(0);
  if (table !== undefined && checked(writer, 'filter.table', table, routeTable)) {
    writer.attribute(RTA.table, () => writer.u32(numberOf(table, TABLES)));
  }
  if (link !== undefined && checked(writer, 'filter.link', link, linkReference)) {
    writer.attribute(RTA.outputLink, () => writer.link(link));
  }
  return writer;
}

/** The message that asks for the route to an address. */
export function encodeGetRoute(address: string, query: RouteQuery = {}): MessageWriter {
  const writer = new MessageWriter(RTM.getRoute, NLM_F.acknowledge);
  if (!writer.check.object('query', query, QUERY_NAMES, 'a query for a route')) return writer;
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
  // IPv6 has no RTM_F_LOOKUP_TABLE, and always answers with the table; a socket with strict checks refuses it.
  writer.u32((destination.family === 4 ? RTM_F_LOOKUP_TABLE : 0) | (fibMatch ? RTM_F_FIB_MATCH : 0));
  writer.attribute(RTA.destination, () => writer.bytes(destination.bytes));
  if (source) writer.attribute(RTA.source, () => writer.bytes(source.bytes));
  for (const [name, link, attribute] of [
    ['inputLink', inputLink, RTA.inputLink],
    ['outputLink', outputLink, RTA.outputLink],
  ] as const) {
    if (link !== undefined && checked(writer, `query.${name}`, link, linkReference)) {
      writer.attribute(attribute, () => writer.link(link));
    }
  }
  writeFields<RouteQuery>(writer, 'query.', query, QUERY);
  return writer;
}
