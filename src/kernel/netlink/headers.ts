// The fixed headers of families, which are in front of the attributes of a message.
import {
  argumentError,
  findUnknown,
  type InvalidValue,
  invalidInteger,
  invalidObject,
} from '../shared/arguments.js';
import { ByteWriter } from '../shared/wire/byteWriter.js';

/** Bytes of `nfgenmsg`, the header of {@link netfilterHeader}. */
export const NETFILTER_HEADER_SIZE = 4;
/** Bytes of `rtgenmsg`, the header of {@link familyHeader}, with its padding. */
export const FAMILY_HEADER_SIZE = 4;
/** Bytes of `ifinfomsg`, the header of {@link linkHeader}. */
export const LINK_HEADER_SIZE = 16;
/** Bytes of `tcmsg`, the header of {@link trafficControlHeader}. */
export const TRAFFIC_CONTROL_HEADER_SIZE = 20;

const U8 = 0xff;
const U16 = 0xffff;
const U32 = 0xffff_ffff;
const LAST_INDEX = 0x7fff_ffff;

/**
 * The header of a message of netfilter (`nfgenmsg`, include/uapi/linux/netfilter/nfnetlink.h), for `AttributeWriter`.
 *
 * @param family 0–255: `NFPROTO_…`, such as 2 (`NFPROTO_IPV4`) and 10 (`NFPROTO_IPV6`)
 * @param resource `res_id`, 0–65535, which is written in network order: the number of a queue or of a group. Default 0
 */
export function netfilterHeader(family: number, resource = 0): Uint8Array {
  check(
    'netfilterHeader',
    invalidInteger('family', family, 0, U8) ?? invalidInteger('resource', resource, 0, U16),
  );
  return copyOf(new ByteWriter().u8(family).u8(0).u16be(resource)); // NFNETLINK_V0
}

/**
 * The shortest header of a request of the protocol `route` (`rtgenmsg`, include/uapi/linux/rtnetlink.h), with its padding, for
 * `AttributeWriter`: of namespace ids (`RTM_GETNSID`), for example.
 *
 * @param family 0–255: `AF_…`. Default 0 (`AF_UNSPEC`)
 */
export function familyHeader(family = 0): Uint8Array {
  check('familyHeader', invalidInteger('family', family, 0, U8));
  return copyOf(new ByteWriter().u8(family).pad());
}

/** The fields of `ifinfomsg`. Each is 0 by default. */
export interface LinkHeader {
  /** `ifi_family`, 0–255: `AF_UNSPEC`, or `AF_BRIDGE` (7) for ports of bridges. */
  readonly family?: number | undefined;
  /** `ifi_type`, 0–65535: `ARPHRD_…`, which the kernel fills in. */
  readonly type?: number | undefined;
  /** `ifi_index`, 0–2147483647: the link; 0 in a request to list, or if an attribute names it. */
  readonly index?: number | undefined;
  /** `ifi_flags`, 0–4294967295: `IFF_…`. */
  readonly flags?: number | undefined;
  /** `ifi_change`, 0–4294967295: which of `flags` are changed. */
  readonly change?: number | undefined;
}

const LINK_FIELDS: Readonly<Record<keyof LinkHeader, number>> = {
  family: U8,
  type: U16,
  index: LAST_INDEX,
  flags: U32,
  change: U32,
};

/** The header of a message about a link (`ifinfomsg`, include/uapi/linux/rtnetlink.h), for `AttributeWriter`. */
export function linkHeader(header: LinkHeader = {}): Uint8Array {
  check('linkHeader', invalidFields(header, LINK_FIELDS));
  const { family = 0, type = 0, index = 0, flags = 0, change = 0 } = header;
  return copyOf(new ByteWriter().u8(family).u8(0).u16(type).u32(index).u32(flags).u32(change));
}

/** The fields of `tcmsg`. Each is 0 by default. */
export interface TrafficControlHeader {
  /** `tcm_family`, 0–255. */
  readonly family?: number | undefined;
  /** `tcm_ifindex`, 0–2147483647: the link. */
  readonly index?: number | undefined;
  /** `tcm_handle`, 0–4294967295: `0x10000` is `1:` of tc(8). */
  readonly handle?: number | undefined;
  /** `tcm_parent`, 0–4294967295: `0xffffffff` is the root (`TC_H_ROOT`). */
  readonly parent?: number | undefined;
  /** `tcm_info`, 0–4294967295: of a filter, its priority and its protocol. */
  readonly info?: number | undefined;
}

const TRAFFIC_CONTROL_FIELDS: Readonly<Record<keyof TrafficControlHeader, number>> = {
  family: U8,
  index: LAST_INDEX,
  handle: U32,
  parent: U32,
  info: U32,
};

/**
 * The header of a message of traffic control (`tcmsg`, include/uapi/linux/rtnetlink.h): queueing disciplines, classes and filters.
 * For `AttributeWriter`.
 */
export function trafficControlHeader(header: TrafficControlHeader = {}): Uint8Array {
  check('trafficControlHeader', invalidFields(header, TRAFFIC_CONTROL_FIELDS));
  const { family = 0, index = 0, handle = 0, parent = 0, info = 0 } = header;
  return copyOf(new ByteWriter().u8(family).pad().u32(index).u32(handle).u32(parent).u32(info));
}

/** The first field that is unknown, or no integer up to its largest value. */
function invalidFields(header: object, fields: Readonly<Record<string, number>>): InvalidValue | undefined {
  const invalid = invalidObject('header', header) ?? findUnknown(header, new Set(Object.keys(fields)));
  if (invalid) return invalid;
  for (const [field, most] of Object.entries(fields)) {
    const value: unknown = header[field as keyof object];
    const outside = value === undefined ? undefined : invalidInteger(field, value, 0, most);
    if (outside) return outside;
  }
  return undefined;
}

function check(name: string, invalid: InvalidValue | undefined): void {
  if (invalid) throw argumentError(`netlink.${name}`, invalid);
}

/** Not a Buffer, whose slice() would share its memory. */
function copyOf(writer: ByteWriter): Uint8Array {
  return new Uint8Array(writer.written());
}
