// The fields of entries, by the type of their set and by their protocol.
import type { Family } from '../../net/address.js';
import type { SetEntry, SetType } from './types.js';

// Bits of an entry's fields, as in its record.
export const ADDRESS = 1;
export const PREFIX = 2;
export const PROTOCOL = 4;
export const PORT = 8;
export const ADDRESS2 = 16;
export const PREFIX2 = 32;
export const NO_MATCH = 64;

/** The fields that entries of a type have; prefixes may be left out. */
export const SHAPES: Readonly<Record<SetType, number>> = {
  'hash:ip': ADDRESS,
  'hash:net': ADDRESS | PREFIX,
  'hash:ip,port': ADDRESS | PROTOCOL | PORT,
  'hash:ip,port,ip': ADDRESS | PROTOCOL | PORT | ADDRESS2,
  'hash:ip,port,net': ADDRESS | PROTOCOL | PORT | ADDRESS2 | PREFIX2,
  'bitmap:port': PORT,
};

// ip_set_proto_with_ports(): TCP, UDP, SCTP, UDP-Lite.
const WITH_PORTS: ReadonlySet<number> = new Set([6, 17, 132, 136]);
const ICMP: Readonly<Record<Family, number>> = { 4: 1, 6: 58 };

/** The field that goes with an IP protocol in a set of a family; none for those that the kernel stores without ports. */
export function portFieldOf(protocol: number, family: Family): 'port' | 'icmp' | undefined {
  if (WITH_PORTS.has(protocol)) return 'port';
  return protocol === ICMP[family] ? 'icmp' : undefined;
}

/** The bit of each field of an entry; 0 for those that no type has which is written. */
export const FIELD_BITS: Readonly<Record<keyof SetEntry, number>> = {
  address: ADDRESS,
  prefix: PREFIX,
  protocol: PROTOCOL,
  port: PORT,
  icmp: PORT,
  address2: ADDRESS2,
  prefix2: PREFIX2,
  noMatch: NO_MATCH,
  set: 0,
  mac: 0,
  interface: 0,
  physdev: 0,
  wildcard: 0,
  mark: 0,
  attributes: 0,
};
