// Settings of VLANs, as attributes. Numbers: include/uapi/linux/if_link.h (IFLA_VLAN_).

import type { AttributeCursor } from '../../../shared/wire/attributeCursor.js';
import { type Fields, field, integer, nameOrNumber } from '../../fields.js';
import { type Bits, bitsOf, readBits } from '../../flags.js';
import type { MessageWriter } from '../../message.js';
import type { ListedVlan, QosMap, VlanProtocol, VlanSettings } from './bridgeTypes.js';
import { kindOf } from './kind.js';

/** ETH_P_8021Q, ETH_P_8021AD: include/uapi/linux/if_ether.h. */
export const vlanProtocol = nameOrNumber<Extract<VlanProtocol, string>>('u16be', {
  '802.1Q': 0x8100,
  '802.1ad': 0x88a8,
});

type VlanSwitches = Omit<VlanSettings, 'id' | 'protocol' | 'ingressQosMap' | 'egressQosMap'>;

const SETTINGS: Fields<Pick<VlanSettings, 'id' | 'protocol'>> = {
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

type QosMapName = keyof typeof QOS_MAPS;

/** The kind `vlan`. */
export const VLAN = kindOf<VlanSettings, ListedVlan>('a VLAN', SETTINGS, {
  names: [...(Object.keys(VLAN_FLAGS) as (keyof VlanSwitches)[]), 'ingressQosMap', 'egressQosMap'],
  write(writer, path, vlan) {
    const { value, mask } = bitsOf<VlanSwitches>(writer, path, vlan, VLAN_FLAGS);
    if (mask) writer.attribute(VLAN_FLAGS_ATTRIBUTE, () => writer.u32(value).u32(mask));
    for (const name of Object.keys(QOS_MAPS) as QosMapName[]) {
      const map = vlan[name];
      if (map !== undefined) writeQosMap(writer, path, name, map);
    }
  },
  read(attribute, vlan) {
    switch (attribute.type) {
      case VLAN_FLAGS_ATTRIBUTE:
        Object.assign(vlan, readBits(attribute.u32(), VLAN_FLAGS));
        return true;
      case QOS_MAPS.egressQosMap:
        vlan['egressQosMap'] = readQosMap(attribute.nested());
        return true;
      case QOS_MAPS.ingressQosMap:
        vlan['ingressQosMap'] = readQosMap(attribute.nested());
        return true;
      default:
        return false;
    }
  },
});

function writeQosMap(writer: MessageWriter, path: string, name: QosMapName, map: QosMap): void {
  const isMap = Array.isArray(map) && map.every((pair) => Array.isArray(pair) && pair.length === 2);
  if (!isMap) {
    writer.check.fail(`${path}${name}`, map, 'must be an array of pairs of priorities', true);
    return;
  }
  writer.attribute(QOS_MAPS[name], () => {
    for (const [from, to] of map) {
      const first = writer.check.integer(`${path}${name}`, from, 0, 0xffff_ffff);
      const second = writer.check.integer(`${path}${name}`, to, 0, 0xffff_ffff);
      writer.attribute(QOS_MAPPING, () => writer.u32(first).u32(second));
    }
  });
}

function readQosMap(mappings: AttributeCursor): QosMap {
  const map: [number, number][] = [];
  while (mappings.next()) map.push([mappings.u32(), mappings.u32(4)]);
  return map;
}
