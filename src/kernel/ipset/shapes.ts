// The fields of entries, by the type of their set and by their protocol.
import type { Family } from '../../net/address.js';
import { ENTRY_FIELD } from './layouts.js';
import type { SetEntry, SetType } from './types.js';

const BITS = ENTRY_FIELD.numbers;

/** The fields that entries of a type have; prefixes may be left out. */
export const SHAPES: Readonly<Record<SetType, number>> = {
  'hash:ip': BITS.address,
  'hash:net': BITS.address | BITS.prefix,
  'hash:ip,port': BITS.address | BITS.protocol | BITS.port,
  'hash:ip,port,ip': BITS.address | BITS.protocol | BITS.port | BITS.address2,
  'hash:ip,port,net': BITS.address | BITS.protocol | BITS.port | BITS.address2 | BITS.prefix2,
  'bitmap:port': BITS.port,
};

// ip_set_proto_with_ports(): TCP, UDP, SCTP, UDP-Lite.
const WITH_PORTS: ReadonlySet<number> = new Set([6, 17, 132, 136]);
const ICMP: Readonly<Record<Family, number>> = { 4: 1, 6: 58 };

/** The field of a port, by the IP protocol and the family of the set; none for protocols that the kernel stores without ports. */
export function portFieldOf(protocol: number, family: Family): 'port' | 'icmp' | undefined {
  if (WITH_PORTS.has(protocol)) return 'port';
  return protocol === ICMP[family] ? 'icmp' : undefined;
}

/** The bit of each field of an entry; 0 for those that no type has which is written. */
export const FIELD_BITS: Readonly<Record<keyof SetEntry, number>> = {
  address: BITS.address,
  prefix: BITS.prefix,
  protocol: BITS.protocol,
  port: BITS.port,
  icmp: BITS.port,
  address2: BITS.address2,
  prefix2: BITS.prefix2,
  noMatch: BITS.noMatch,
  set: 0,
  mac: 0,
  interface: 0,
  physdev: 0,
  wildcard: 0,
  mark: 0,
  attributes: 0,
};
