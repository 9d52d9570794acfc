// Settings of bridges and of their ports, as attributes. Numbers: include/uapi/linux/if_link.h (IFLA_BR_, IFLA_BRPORT_).

import {
  type Fields,
  field,
  hardwareAddress,
  type Ignored,
  integer,
  linkOrNone,
  nameOrNumber,
  scaled,
  toggle,
} from '../../fields.js';
import { type Bits, bitsOf, readBits } from '../../flags.js';
import type {
  BridgePortSettings,
  BridgeSettings,
  ListedBridge,
  ListedBridgePort,
  StpMode,
} from './bridgeTypes.js';
import { kindOf } from './kind.js';
import { vlanProtocol } from './vlan.js';

/** The kernel has hundredths of a second (clock_t, USER_HZ). */
const seconds = scaled('u32', 100);
const longSeconds = scaled('u64AsNumber', 100);

type BridgeOptions = Pick<
  BridgeSettings,
  | 'noLinkLocalLearning'
  | 'multicastVlanSnooping'
  | 'multipleSpanningTrees'
  | 'offloadFailureNotification'
  | 'localEntriesInVlan0'
>;

const SETTINGS: Fields<Omit<BridgeSettings, keyof BridgeOptions>> = {
  forwardDelay: field(1, seconds),
  helloTime: field(2, seconds),
  maxAge: field(3, seconds),
  ageingTime: field(4, seconds),
  stp: field(5, toggle('u32')),
  priority: field(6, integer('u16')),
  vlanFiltering: field(7, toggle('u8')),
  vlanProtocol: field(8, vlanProtocol),
  groupForwardMask: field(9, integer('u16')),
  groupAddress: field(20, hardwareAddress),
  multicastRouter: field(22, integer('u8', 0, 2)),
  multicastSnooping: field(23, toggle('u8')),
  multicastQueryUseAddress: field(24, toggle('u8')),
  multicastQuerier: field(25, toggle('u8')),
  multicastHashElasticity: field(26, integer('u32')),
  multicastHashMax: field(27, integer('u32')),
  multicastLastMemberCount: field(28, integer('u32')),
  multicastStartupQueryCount: field(29, integer('u32')),
  multicastLastMemberInterval: field(30, longSeconds),
  multicastMembershipInterval: field(31, longSeconds),
  multicastQuerierInterval: field(32, longSeconds),
  multicastQueryInterval: field(33, longSeconds),
  multicastQueryResponseInterval: field(34, longSeconds),
  multicastStartupQueryInterval: field(35, longSeconds),
  callIptables: field(36, toggle('u8')),
  callIp6tables: field(37, toggle('u8')),
  callArptables: field(38, toggle('u8')),
  vlanDefaultPvid: field(39, integer('u16', 0, 4094)),
  vlanStatistics: field(41, toggle('u8')),
  multicastStatistics: field(42, toggle('u8')),
  multicastIgmpVersion: field(43, integer('u8', 2, 3)),
  multicastMldVersion: field(44, integer('u8', 1, 2)),
  vlanStatisticsPerPort: field(45, toggle('u8')),
  maxLearned: field(49, integer('u32')),
  stpMode: field(50, nameOrNumber<Extract<StpMode, string>>('u32', { auto: 0, user: 1, kernel: 2 })),
};

/**
 * What a bridge says about itself, and is not set: its ids, the root, timers (10 to 19); padding (40), the state of the querier
 * (47) and the number of learned entries (48).
 */
const BRIDGE_STATE: Ignored = new Set([10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 40, 47, 48]);

/** IFLA_BR_MULTI_BOOLOPT: struct br_boolopt_multi. */
const BRIDGE_OPTIONS_ATTRIBUTE = 46;
const BRIDGE_OPTIONS: Bits<BridgeOptions> = {
  noLinkLocalLearning: { bit: 1 },
  multicastVlanSnooping: { bit: 2 },
  multipleSpanningTrees: { bit: 4 },
  offloadFailureNotification: { bit: 8 },
  localEntriesInVlan0: { bit: 16 },
};
const BRIDGE_OPTION_NAMES = Object.keys(BRIDGE_OPTIONS) as (keyof BridgeOptions)[];
const NAMED_OPTIONS = BRIDGE_OPTION_NAMES.reduce((sum, name) => sum | BRIDGE_OPTIONS[name].bit, 0);

const PORT_SETTINGS: Fields<BridgePortSettings> = {
  state: field(1, integer('u8', 0, 4)),
  priority: field(2, integer('u16', 0, 63)),
  cost: field(3, integer('u32', 1, 65535)),
  hairpin: field(4, toggle('u8')),
  guard: field(5, toggle('u8')),
  rootBlock: field(6, toggle('u8')),
  fastLeave: field(7, toggle('u8')),
  learning: field(8, toggle('u8')),
  flood: field(9, toggle('u8')),
  proxyArp: field(10, toggle('u8')),
  proxyArpWifi: field(12, toggle('u8')),
  multicastRouter: field(25, integer('u8', 0, 2)),
  multicastFlood: field(27, toggle('u8')),
  multicastToUnicast: field(28, toggle('u8')),
  vlanTunnel: field(29, toggle('u8')),
  broadcastFlood: field(30, toggle('u8')),
  groupForwardMask: field(31, integer('u16')),
  neighbourSuppression: field(32, toggle('u8')),
  isolated: field(33, toggle('u8')),
  backupPort: field(34, linkOrNone),
  multicastHostsLimit: field(37, integer('u32', 1)),
  locked: field(39, toggle('u8')),
  macAuthenticationBypass: field(40, toggle('u8')),
  multicastMaxGroups: field(42, integer('u32')),
  neighbourVlanSuppression: field(43, toggle('u8')),
  backupNextHopId: field(44, integer('u32')),
  forwardGratuitous: field(45, toggle('u8')),
};

/**
 * The same of a port: what it designates, timers, numbers (13 to 24), padding (26), whether it forwards for a ring of MRP (35,
 * 36), and the number of its hosts and groups (38, 41).
 */
const PORT_STATE: Ignored = new Set([
  ...[11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26],
  ...[35, 36, 38, 41],
]);

/** The kind `bridge`. */
export const BRIDGE = kindOf<BridgeSettings, ListedBridge>('a bridge', SETTINGS, {
  names: BRIDGE_OPTION_NAMES,
  ignored: BRIDGE_STATE,
  // A kernel without the feature lists false, and refuses it.
  defaults: Object.fromEntries(['vlanFiltering', ...BRIDGE_OPTION_NAMES].map((name) => [name, false])),
  write(writer, path, bridge) {
    const { value, mask } = bitsOf<BridgeOptions>(writer, path, bridge, BRIDGE_OPTIONS);
    if (mask) writer.attribute(BRIDGE_OPTIONS_ATTRIBUTE, () => writer.u32(value).u32(mask));
  },
  read(attribute, bridge) {
    if (attribute.type !== BRIDGE_OPTIONS_ATTRIBUTE) return false;
    // The mask has the options that the kernel knows.
    Object.assign(bridge, readBits(attribute.u32(), BRIDGE_OPTIONS, attribute.u32(4)));
    return (attribute.u32() & ~NAMED_OPTIONS) === 0;
  },
});

/** A port of a bridge. */
export const BRIDGE_PORT = kindOf<BridgePortSettings, ListedBridgePort>('a port of a bridge', PORT_SETTINGS, {
  ignored: PORT_STATE,
});
