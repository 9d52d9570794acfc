// Numbers and fields of routes: include/uapi/linux/rtnetlink.h (RTA_, RTN_, RTPROT_, RTNH_F_).
import { type Fields, field, integer, ipAddress, type Numbers, nameOrNumber } from '../fields.js';
import { SCOPES } from '../numbers.js';
import type {
  NewRoute,
  RouteFlag,
  RouteHop,
  RouteProtocol,
  RouterPreference,
  RouteTable,
  RouteType,
  UnnamedFlag,
} from './types.js';

/** Types of attributes (RTA_). */
export const RTA = {
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
  mark: 16,
  via: 18,
  padding: 24,
  user: 25,
} as const;
/** Bytes of struct rtmsg. */
export const HEADER_SIZE = 12;

/** RTN_. */
export const TYPES: Numbers<Extract<RouteType, string>> = {
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
/** RTPROT_. */
export const PROTOCOLS: Numbers<Extract<RouteProtocol, string>> = {
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
/** RT_TABLE_. */
export const TABLES: Numbers<Extract<RouteTable, string>> = { default: 253, main: 254, local: 255 };
/** RTNH_F_. */
export const FLAGS: Numbers<Exclude<RouteFlag, UnnamedFlag>> = {
  dead: 1,
  pervasive: 2,
  onlink: 4,
  offload: 8,
  linkdown: 16,
  unresolved: 32,
  trap: 64,
};

/** A type of routes. */
export const routeType = nameOrNumber('u8', TYPES);
/** An origin of routes, rules and neighbours. */
export const routeProtocol = nameOrNumber('u8', PROTOCOLS);
/** A table of routes. */
export const routeTable = nameOrNumber('u32', TABLES);
/** A scope of routes and addresses. */
export const routeScope = nameOrNumber('u8', SCOPES);

/** RTA_FLOW, of a route or of one of its nexthops. */
export const REALMS: Fields<Pick<RouteHop, 'realms'>> = { realms: field(11, integer('u32', 1)) };

/** The fields of {@link SCALARS}. */
export type Scalars = Pick<
  NewRoute,
  'preferredSource' | 'metric' | 'realms' | 'preference' | 'expires' | 'nextHopId'
>;
/** Fields of a route that are attributes of one value. */
export const SCALARS: Fields<Scalars> = {
  metric: field(RTA.priority, integer('u32')),
  preferredSource: field(7, ipAddress),
  realms: REALMS.realms,
  preference: field(
    20,
    nameOrNumber<Extract<RouterPreference, string>>('u8', { low: 3, medium: 0, high: 1 }),
  ),
  expires: field(23, integer('u32')),
  nextHopId: field(30, integer('u32', 1)),
};
/** The number of a name, or a number as it is. */
export function numberOf<Name extends string>(value: Name | number, numbers: Numbers<Name>): number {
  if (typeof value === 'number') return value;
  // A value of another type has been noted, and may have no text that a table could be asked for.
  return typeof value === 'string' ? numbers[value] : 0;
}
