// Settings of the kinds of links, as attributes. Numbers: include/uapi/linux/if_link.h (IFLA_BR_, IFLA_BRPORT_, IFLA_VLAN_).

import type { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import {
  type Fields,
  field,
  hardwareAddress,
  type Ignored,
  integer,
  type LinkNames,
  linkOrNone,
  nameOrNumber,
  readField,
  scaled,
  toggle,
  writeFields,
} from '../fields.js';
import { type Bits, bitsOf, readBits } from '../flags.js';
import type { MessageWriter } from '../message.js';
import type {
  BridgePortSettings,
  BridgeSettings,
  ListedBridge,
  ListedBridgePort,
  ListedVlan,
  QosMap,
  VlanProtocol,
  VlanSettings,
} from './types.js';

/** ETH_P_8021Q, ETH_P_8021AD: include/uapi/linux/if_ether.h. */
const vlanProtocol = nameOrNumber<Extract<VlanProtocol, string>>('u16be', {
  '802.1Q': 0x8100,
  '802.1ad': 0x88a8,
});

/** The kernel has hundredths of a second (clock_t, USER_HZ). */
const seconds = scaled('u32', 100);
const longSeconds = scaled('u64AsNumber', 100);

type BridgeOptions = Pick<BridgeSettings, 'noLinkLocalLearning' | 'multicastVlanSnooping'>;

const BRIDGE: Fields<Omit<BridgeSettings, keyof BridgeOptions>> = {
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
};

const PORT: Fields<BridgePortSettings> = {
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
  locked: field(39, toggle('u8')),
};

/**
 * The same of a port: what it designates, timers, numbers (13 to 24), padding (26), whether it forwards for a ring of MRP (35,
 * 36), and the number of its hosts and groups (38, 41).
 */
const PORT_STATE: Ignored = new Set([
  ...[11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26],
  ...[35, 36, 38, 41],
]);

type VlanSwitches = Omit<VlanSettings, 'id' | 'protocol' | 'ingressQosMap' | 'egressQosMap'>;

const VLAN: Fields<Pick<VlanSettings, 'id' | 'protocol'>> = {
  id: field(1, integer('u16', 0, 4095)),
  protocol: field(5, vlanProtocol),
};
/** IFLA_VLAN_FLAGS: struct ifla_vlan_flags, with VLAN_FLAG_. */
const VLAN_FLAGS_ATTRIBUTE = 2;
const VLAN_FLAGS: Bits<VlanSwitches> = {
  reorderHeader: { bit: 1 },
  gvrp: { bit: 2 },
  looseBinding: { bit: 4 },
  mvrp: { bit: 8 },
  bridgeBinding: { bit: 16 },
};
const QOS_MAPS = { egressQosMap: 3, ingressQosMap: 4 } as const;
const QOS_MAPPING = 1;

// `attributes` of a listing have no effect: what a change does not name stays as it is.
const BRIDGE_NAMES = new Set([...Object.keys(BRIDGE), ...Object.keys(BRIDGE_OPTIONS), 'attributes']);
const PORT_NAMES = new Set([...Object.keys(PORT), 'attributes']);
const VLAN_NAMES = new Set([
  ...Object.keys(VLAN),
  ...Object.keys(VLAN_FLAGS),
  ...Object.keys(QOS_MAPS),
  'attributes',
]);

/** Writes the attributes of a bridge. */
export function writeBridge(writer: MessageWriter, bridge: BridgeSettings): void {
  if (!writer.check.object('settings.bridge', bridge, BRIDGE_NAMES, 'a bridge')) return;
  writeFields<BridgeSettings>(writer, 'settings.bridge.', bridge, BRIDGE);
  const { value, mask } = bitsOf<BridgeOptions>(writer, 'settings.bridge.', bridge, BRIDGE_OPTIONS);
  if (mask) writer.attribute(BRIDGE_OPTIONS_ATTRIBUTE, () => writer.u32(value).u32(mask));
}

/** Reads the attributes of a bridge. */
export function readBridge(attributes: AttributeCursor, links: LinkNames): ListedBridge {
  const bridge: Record<string, unknown> = {};
  while (attributes.next()) {
    if (attributes.type === BRIDGE_OPTIONS_ATTRIBUTE) {
      Object.assign(bridge, readBits(attributes.u32(), BRIDGE_OPTIONS));
    } else {
      readField(attributes, BRIDGE, bridge, links, BRIDGE_STATE);
    }
  }
  return bridge;
}

/** Writes the attributes of a port of a bridge. */
export function writeBridgePort(writer: MessageWriter, port: BridgePortSettings): void {
  if (!writer.check.object('settings.bridgePort', port, PORT_NAMES, 'a port of a bridge')) return;
  writeFields(writer, 'settings.bridgePort.', port, PORT);
}

/** Reads the attributes of a port of a bridge. */
export function readBridgePort(attributes: AttributeCursor, links: LinkNames): ListedBridgePort {
  const port: Record<string, unknown> = {};
  while (attributes.next()) readField(attributes, PORT, port, links, PORT_STATE);
  return port;
}

/** Writes the attributes of a VLAN. */
export function writeVlan(writer: MessageWriter, vlan: VlanSettings): void {
  if (!writer.check.object('settings.vlan', vlan, VLAN_NAMES, 'a VLAN')) return;
  writeFields<VlanSettings>(writer, 'settings.vlan.', vlan, VLAN);
  const { value, mask } = bitsOf<VlanSwitches>(writer, 'settings.vlan.', vlan, VLAN_FLAGS);
  if (mask) writer.attribute(VLAN_FLAGS_ATTRIBUTE, () => writer.u32(value).u32(mask));
  for (const name of Object.keys(QOS_MAPS) as (keyof typeof QOS_MAPS)[]) {
    const map = vlan[name];
    if (map !== undefined) writeQosMap(writer, name, map);
  }
}

function writeQosMap(writer: MessageWriter, name: keyof typeof QOS_MAPS, map: QosMap): void {
  const isMap = Array.isArray(map) && map.every((pair) => Array.isArray(pair) && pair.length === 2);
  if (!isMap) {
    writer.check.fail(`settings.vlan.${name}`, map, 'must be an array of pairs of priorities', true);
    return;
  }
  writer.attribute(QOS_MAPS[name], () => {
    for (const [from, to] of map) {
      const first = writer.check.integer(`settings.vlan.${name}`, from, 0, 0xffff_ffff);
      const second = writer.check.integer(`settings.vlan.${name}`, to, 0, 0xffff_ffff);
      writer.attribute(QOS_MAPPING, () => writer.u32(first).u32(second));
    }
  });
}

/** Reads the attributes of a VLAN. */
export function readVlan(attributes: AttributeCursor, links: LinkNames): ListedVlan {
  const vlan: Record<string, unknown> = {};
  while (attributes.next()) {
    switch (attributes.type) {
      case VLAN_FLAGS_ATTRIBUTE:
        Object.assign(vlan, readBits(attributes.u32(), VLAN_FLAGS));
        break;
      case QOS_MAPS.egressQosMap:
        vlan['egressQosMap'] = readQosMap(attributes.nested());
        break;
      case QOS_MAPS.ingressQosMap:
        vlan['ingressQosMap'] = readQosMap(attributes.nested());
        break;
      default:
        readField(attributes, VLAN, vlan, links);
    }
  }
  return vlan;
}

function readQosMap(mappings: AttributeCursor): QosMap {
  const map: [number, number][] = [];
  while (mappings.next()) map.push([mappings.u32(), mappings.u32(4)]);
  return map;
}
