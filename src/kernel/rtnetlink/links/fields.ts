// Numbers and fields of links: include/uapi/linux/if_link.h (IFLA_), if.h (IFF_).
import {
  type Fields,
  type Format,
  field,
  hardwareAddress,
  integer,
  type Numbers,
  nameOrNumber,
  text,
  toggle,
} from '../fields.js';
import type { UnnamedFlag } from '../routes/types.js';
import type { AddressGeneration, LinkAttributes, LinkFlag, NewLinkSettings } from './types.js';

/** Types of attributes (IFLA_). */
export const IFLA = {
  ifname: 3,
  link: 5,
  qdisc: 6,
  master: 10,
  operstate: 16,
  linkInfo: 18,
  netNsPid: 19,
  afSpec: 26,
  netNsFd: 28,
  extMask: 29,
  linkNetnsId: 37,
  propList: 52,
  altIfname: 53,
} as const;
/** IFLA_INFO_. */
export const INFO = { kind: 1, data: 2, slaveKind: 4, slaveData: 5 } as const;
/** The family among the attributes of families (IFLA_AF_SPEC). */
export const AF_INET6 = 10;
/** The attribute of {@link addressGeneration}. */
export const IFLA_INET6_ADDR_GEN_MODE = 8;
/** Bytes of struct ifinfomsg. */
export const HEADER_SIZE = 16;
/** The largest index, and the largest group. */
export const MOST = 0x7fff_ffff;

/** IFF_. */
export const FLAGS: Numbers<Exclude<LinkFlag, UnnamedFlag>> = {
  up: 0x1,
  broadcast: 0x2,
  debug: 0x4,
  loopback: 0x8,
  pointopoint: 0x10,
  notrailers: 0x20,
  running: 0x40,
  noarp: 0x80,
  promisc: 0x100,
  allmulti: 0x200,
  master: 0x400,
  slave: 0x800,
  multicast: 0x1000,
  portsel: 0x2000,
  automedia: 0x4000,
  dynamic: 0x8000,
  lower_up: 0x10000,
  dormant: 0x20000,
  echo: 0x40000,
};
/** How addresses of IPv6 are made. */
export const addressGeneration = nameOrNumber<Extract<AddressGeneration, string>>('u8', {
  eui64: 0,
  none: 1,
  stable_secret: 2,
  random: 3,
});

/** At most IFALIASZ - 1 bytes, and without a terminator: with it, the kernel refuses the longest. */
const alias: Format<string> = { ...text(255, 0), write: (writer, value) => writer.bytes(Buffer.from(value)) };

/** Settings that are attributes of one value. */
export const ATTRIBUTES: Fields<Omit<LinkAttributes, 'addressGeneration'>> = {
  address: field(1, hardwareAddress),
  broadcast: field(2, hardwareAddress),
  mtu: field(4, integer('u32')),
  txQueueLength: field(13, integer('u32')),
  alias: field(20, alias),
  group: field(27, integer('u32', 0, MOST)),
  carrier: field(33, toggle('u8')),
  protoDown: field(39, toggle('u8')),
  gsoMaxSegments: field(40, integer('u32')),
  gsoMaxSize: field(41, integer('u32')),
  groMaxSize: field(58, integer('u32')),
};
/** Settings of a new link only. */
export const QUEUES: Fields<Pick<NewLinkSettings, 'txQueues' | 'rxQueues'>> = {
  txQueues: field(31, integer('u32', 1, 4096)),
  rxQueues: field(32, integer('u32', 1, 4096)),
};
