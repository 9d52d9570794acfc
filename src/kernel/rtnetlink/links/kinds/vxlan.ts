// Settings of VXLANs, as attributes. Numbers: include/uapi/linux/if_link.h (IFLA_VXLAN_).
import {
  type Fields,
  field,
  integer,
  largeInteger,
  linkReference,
  nameOrNumber,
  toggle,
} from '../../fields.js';
import { portRange, readTtl, type TtlAttributes, writeTtl } from './formats.js';
import { kindOf } from './kind.js';
import type { ListedVxlan, VxlanSettings } from './tunnelTypes.js';

type Addresses = Pick<VxlanSettings, 'remote' | 'local'>;
type Flags = Pick<VxlanSettings, 'remoteChecksumNoPartial' | 'groupPolicy' | 'genericProtocol'>;

const SETTINGS: Fields<Omit<VxlanSettings, keyof Addresses | keyof Flags | 'ttl'>> = {
  id: field(1, integer('u32', 0, 0xff_ffff)),
  link: field(3, linkReference),
  tos: field(6, integer('u8')),
  learning: field(7, toggle('u8')),
  ageingTime: field(8, integer('u32')),
  addressLimit: field(9, integer('u32')),
  sourcePorts: field(10, portRange),
  proxy: field(11, toggle('u8')),
  routeShortCircuit: field(12, toggle('u8')),
  l2Miss: field(13, toggle('u8')),
  l3Miss: field(14, toggle('u8')),
  port: field(15, integer('u16be')),
  udpChecksum: field(18, toggle('u8')),
  udp6ZeroChecksumTx: field(19, toggle('u8')),
  udp6ZeroChecksumRx: field(20, toggle('u8')),
  remoteChecksumTx: field(21, toggle('u8')),
  remoteChecksumRx: field(22, toggle('u8')),
  external: field(25, toggle('u8')),
  flowLabel: field(26, integer('u32be', 0, 0xf_ffff)),
  dontFragment: field(29, nameOrNumber('u8', { unset: 0, set: 1, inherit: 2 })),
  vniFilter: field(30, toggle('u8')),
  localBypass: field(31, toggle('u8')),
  flowLabelPolicy: field(32, nameOrNumber('u32', { fixed: 0, inherit: 1 })),
  reservedBits: field(33, largeInteger),
  multicastRouting: field(34, toggle('u8')),
};
/** IFLA_VXLAN_GROUP and _GROUP6, IFLA_VXLAN_LOCAL and _LOCAL6. */
const ADDRESSES: Readonly<Record<keyof Addresses, readonly [ipv4: number, ipv6: number]>> = {
  remote: [2, 16],
  local: [4, 17],
};
const FLAGS: Readonly<Record<keyof Flags, number>> = {
  groupPolicy: 23,
  remoteChecksumNoPartial: 24,
  genericProtocol: 27,
};
const TTL: TtlAttributes = { ttl: 5, inherit: 28, writeInherit: () => undefined };

/** The kind `vxlan`. */
export const VXLAN = kindOf<VxlanSettings, ListedVxlan>('a VXLAN', SETTINGS, {
  names: ['ttl'],
  flags: FLAGS,
  addresses: ADDRESSES,
  // With it, the kernel takes bits of the header as used (Linux 6.14), which the listed `reservedBits` may have.
  defaults: { remoteChecksumRx: false },
  write(writer, path, vxlan) {
    writeTtl(writer, `${path}ttl`, vxlan.ttl, TTL);
    // The kernel lists 0 of one with `external`.
    if (vxlan.external === true && vxlan.id !== undefined && vxlan.id !== 0) {
      writer.check.fail(`${path}external`, true, 'excludes id', true);
    }
  },
  read: (attribute, vxlan) => readTtl(attribute, vxlan, TTL),
});
