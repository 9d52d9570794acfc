// Whether two routes, or two addresses, are one object for the kernel. Pure.
import { formatAddress, parseAddressAsIs } from '../net/address.js';
import { argumentError } from '../shared/arguments.js';
import { encodeAddress } from './addresses/codec.js';
import type { LinkAddressId } from './addresses/types.js';
import { checked, integer, ipAddress } from './fields.js';
import { MessageWriter } from './message.js';
import { checkPrefix, type Prefix } from './prefixes.js';
import { routeType } from './routes/fields.js';
import type { NewRoute } from './routes/types.js';
import { checkDestination, tableOf } from './routes/write.js';

/** What names a route; a route that is written or listed has it. */
export type RouteName = Pick<
  NewRoute,
  'destination' | 'family' | 'type' | 'table' | 'metric' | 'tos' | 'source' | 'gateway'
>;

/** The metric of a route of IPv6 without one (IP6_RT_PRIO_USER). */
const DEFAULT_METRIC6 = 1024;
const metricFormat = integer('u32');
const tosFormat = integer('u8');

/**
 * Whether two routes have one name, so that the kernel answers EEXIST to the addition of the second, and `replaceRoute` puts one in
 * the place of the other: destination, table, metric, and TOS (of IPv4) or source (of IPv6), with the defaults of the kernel. `type` and
 * `gateway` count only as far as the defaults of `table` and `family` depend on them. Throws a TypeError or RangeError that names an
 * invalid field.
 */
export function sameRoute(route: RouteName, other: RouteName): boolean {
  return keyOfRoute('route', route) === keyOfRoute('other', other);
}

/**
 * Whether two addresses have one name, so that the kernel answers EEXIST to the addition of the second: link, address, and of IPv4 the
 * prefix length and the network of `peer` (default: `address`). A link has an address of IPv6 once, with any prefix length. A
 * link by name and a link by index are never the same. Throws a TypeError or RangeError that names an invalid field.
 */
export function sameAddress(address: LinkAddressId, other: LinkAddressId): boolean {
  return keyOfAddress('address', address) === keyOfAddress('other', other);
}

function keyOfRoute(argument: string, route: RouteName): string {
  const writer = new MessageWriter(0, 0);
  const { check } = writer;
  if (!check.isObject('route', route)) throw errorOf('sameRoute', writer, argument);
  const { metric = 0, tos = 0, type, source, gateway } = route;
  const destination = checkDestination(writer, route);
  const { family } = destination;
  if (type !== undefined) checked(writer, 'route.type', type, routeType);
  if (gateway !== undefined) checked(writer, 'route.gateway', gateway, ipAddress);
  checked(writer, 'route.metric', metric, metricFormat);
  checked(writer, 'route.tos', tos, tosFormat);
  const from = source === undefined ? undefined : checkPrefix(check, 'route.source', source, family);
  const name = [networkOf(destination), tableOf(writer, route)];
  if (check.invalid) throw errorOf('sameRoute', writer, argument);
  if (family === 4) return [...name, metric, tos].join(' ');
  return [...name, metric || DEFAULT_METRIC6, from && from.length > 0 ? networkOf(from) : ''].join(' ');
}

function keyOfAddress(argument: string, given: LinkAddressId): string {
  const writer = new MessageWriter(0, 0);
  const { check } = writer;
  if (!check.isObject('address', given)) throw errorOf('sameAddress', writer, argument);
  const { link, address, prefix, peer } = given;
  const id = { link, address, prefix, ...(peer !== undefined && { peer }) };
  const encoded = encodeAddress('delete', id);
  if (encoded.check.invalid) throw errorOf('sameAddress', encoded, argument);
  const bytes = parseAddressAsIs(address) ?? new Uint8Array();
  const name = `${typeof link} ${link} ${formatAddress(bytes)}`;
  if (bytes.length > 4) return name;
  const network = { bytes: parseAddressAsIs(peer ?? address) ?? bytes, length: prefix };
  return `${name} ${networkOf(network)}`;
}

/** The error of an invalid field, whose path begins with the name of the argument. */
function errorOf(name: string, { check }: MessageWriter, argument: string): TypeError | RangeError {
  const invalid = check.invalid ?? { field: argument, value: undefined, rule: '', wrongType: true };
  const field = invalid.field.replace(/^\w+/, argument);
  return argumentError(`rtnetlink.${name}`, { ...invalid, field });
}

/** The text of a prefix without the bits behind it. */
function networkOf({ bytes, length }: Pick<Prefix, 'bytes' | 'length'>): string {
  const network = Uint8Array.from(bytes, (byte, place) => {
    const bits = Math.min(8, Math.max(0, length - 8 * place));
    return byte & (0xff << (8 - bits)) & 0xff;
  });
  return `${formatAddress(network)}/${length}`;
}
