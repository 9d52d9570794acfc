// Settings of macvlans, ipvlans, VRFs, netkits and devices of tun, as attributes. Numbers: include/uapi/linux/if_link.h (IFLA_MACVLAN_,
// IFLA_IPVLAN_, IFLA_VRF_, IFLA_NETKIT_, IFLA_TUN_).
import { checked, type Fields, field, integer, nameOrNumber, toggle } from '../../fields.js';
import { routeTable } from '../../routes/fields.js';
import { flagSet, hardwareAddressList } from './formats.js';
import { kindOf } from './kind.js';
import type { ListedTun } from './tunnelTypes.js';
import type {
  IpvlanMode,
  IpvlanSettings,
  ListedIpvlan,
  ListedMacvlan,
  ListedNetkit,
  ListedVrf,
  ListedVrfPort,
  MacvlanMode,
  MacvlanSettings,
  NetkitSettings,
  VrfSettings,
} from './upperTypes.js';

const MACVLAN_SETTINGS: Fields<Omit<MacvlanSettings, 'sources'>> = {
  mode: field(
    1,
    nameOrNumber<Extract<MacvlanMode, string>>('u32', {
      private: 1,
      vepa: 2,
      bridge: 4,
      passthru: 8,
      source: 16,
    }),
  ),
  flags: field(2, flagSet({ nopromisc: 1, nodst: 2 })),
  broadcastQueueLength: field(7, integer('u32')),
  broadcastCutoff: field(9, integer('i32', -0x8000_0000)),
};
/** IFLA_MACVLAN_MACADDR_, and MACVLAN_MACADDR_SET. */
const SOURCES = { mode: 3, address: 4, data: 5, count: 6 } as const;
const SET_SOURCES = 3;
const sourceList = hardwareAddressList(SOURCES.address);

/** The kinds `macvlan` and `macvtap`. */
export const MACVLAN = kindOf<MacvlanSettings, ListedMacvlan>('a macvlan', MACVLAN_SETTINGS, {
  names: ['sources'],
  listed: { usedBroadcastQueueLength: field(8, integer('u32')) },
  // How sources are written, and their number.
  ignored: new Set([SOURCES.mode, SOURCES.count]),
  write(writer, path, { sources }) {
    if (sources === undefined || !checked(writer, `${path}sources`, sources, sourceList)) return;
    writer.attribute(SOURCES.mode, () => writer.u32(SET_SOURCES));
    writer.attribute(SOURCES.data, () => sourceList.write(writer, sources));
  },
  read(attribute, macvlan, links) {
    if (attribute.type !== SOURCES.data) return false;
    macvlan['sources'] = sourceList.read(attribute, links);
    return true;
  },
});

const IPVLAN_SETTINGS: Fields<IpvlanSettings> = {
  mode: field(1, nameOrNumber<Extract<IpvlanMode, string>>('u16', { l2: 0, l3: 1, l3s: 2 })),
  flags: field(2, flagSet({ private: 1, vepa: 2 })),
};

/** The kinds `ipvlan` and `ipvtap`. */
export const IPVLAN = kindOf<IpvlanSettings, ListedIpvlan>('an ipvlan', IPVLAN_SETTINGS);

const TABLE = field(1, routeTable);

/** The kind `vrf`. */
export const VRF = kindOf<VrfSettings, ListedVrf>('a VRF', { table: TABLE });
/** A port of a VRF. */
export const VRF_PORT = kindOf<ListedVrfPort>('a port of a VRF', {}, { listed: { table: TABLE } });

const netkitPolicy = nameOrNumber('u32', { pass: 0, drop: 2 });
const netkitScrub = nameOrNumber('u32', { none: 0, default: 1 });
const NETKIT_SETTINGS: Fields<NetkitSettings> = {
  policy: field(3, netkitPolicy),
  peerPolicy: field(4, netkitPolicy),
  mode: field(5, nameOrNumber('u32', { l2: 0, l3: 1 })),
  scrub: field(6, netkitScrub),
  peerScrub: field(7, netkitScrub),
  headroom: field(8, integer('u16')),
  tailroom: field(9, integer('u16')),
  pairing: field(10, nameOrNumber('u32', { pair: 0, single: 1 })),
};

/** The kind `netkit`. */
export const NETKIT = kindOf<NetkitSettings, ListedNetkit>('a netkit', NETKIT_SETTINGS, {
  listed: { primary: field(2, toggle('u8')) },
});

const TUN_STATE: Fields<Omit<ListedTun, 'attributes'>> = {
  owner: field(1, integer('u32')),
  group: field(2, integer('u32')),
  type: field(3, nameOrNumber('u8', { tun: 1, tap: 2 })),
  packetHeader: field(4, toggle('u8')),
  vnetHeader: field(5, toggle('u8')),
  persistent: field(6, toggle('u8')),
  multiQueue: field(7, toggle('u8')),
  queues: field(8, integer('u32')),
  disabledQueues: field(9, integer('u32')),
};

/** The kind `tun`, which is not written. */
export const TUN = kindOf<ListedTun>('a device of tun', {}, { listed: TUN_STATE });
