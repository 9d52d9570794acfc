// Settings of bonds and of their ports, as attributes. Numbers: include/uapi/linux/if_link.h (IFLA_BOND_), if_bonding.h.
import type { AttributeCursor } from '../../../shared/wire/attributeCursor.js';
import {
  type Fields,
  field,
  hardwareAddress,
  integer,
  type LinkNames,
  linkOrNone,
  nameOrNumber,
  readField,
  toggle,
} from '../../fields.js';
import type {
  BondAggregator,
  BondArpValidation,
  BondHashPolicy,
  BondMode,
  BondPortSettings,
  BondSettings,
  ListedBond,
  ListedBondPort,
} from './bondTypes.js';
import { addressList } from './formats.js';
import { kindOf } from './kind.js';

const LARGEST_INT = 0x7fff_ffff;
/** BOND_MAX_ARP_TARGETS, BOND_MAX_NS_TARGETS. */
const MOST_TARGETS = 16;
const milliseconds = integer('u32', 0, LARGEST_INT);

const SETTINGS: Fields<BondSettings> = {
  mode: field(
    1,
    nameOrNumber<Extract<BondMode, string>>('u8', {
      'balance-rr': 0,
      'active-backup': 1,
      'balance-xor': 2,
      broadcast: 3,
      '802.3ad': 4,
      'balance-tlb': 5,
      'balance-alb': 6,
    }),
  ),
  activePort: field(2, linkOrNone),
  miiInterval: field(3, milliseconds),
  upDelay: field(4, milliseconds),
  downDelay: field(5, milliseconds),
  useCarrier: field(6, toggle('u8')),
  arpInterval: field(7, milliseconds),
  arpTargets: field(8, addressList(4, MOST_TARGETS)),
  arpValidation: field(
    9,
    nameOrNumber<Extract<BondArpValidation, string>>('u32', {
      none: 0,
      active: 1,
      backup: 2,
      all: 3,
      filter: 4,
      filter_active: 5,
      filter_backup: 6,
    }),
  ),
  arpAllTargets: field(10, nameOrNumber('u32', { any: 0, all: 1 })),
  primary: field(11, linkOrNone),
  primaryReselection: field(12, nameOrNumber('u8', { always: 0, better: 1, failure: 2 })),
  failOverMac: field(13, nameOrNumber('u8', { none: 0, active: 1, follow: 2 })),
  hashPolicy: field(
    14,
    nameOrNumber<Extract<BondHashPolicy, string>>('u8', {
      layer2: 0,
      'layer3+4': 1,
      'layer2+3': 2,
      'encap2+3': 3,
      'encap3+4': 4,
      'vlan+srcmac': 5,
    }),
  ),
  resendIgmp: field(15, integer('u32', 0, 255)),
  peerNotifications: field(16, integer('u8')),
  allPortsActive: field(17, toggle('u8')),
  minLinks: field(18, integer('u32', 0, LARGEST_INT)),
  learnPacketInterval: field(19, integer('u32', 1, LARGEST_INT)),
  packetsPerPort: field(20, integer('u32', 0, 65535)),
  lacpRate: field(21, nameOrNumber('u8', { slow: 0, fast: 1 })),
  aggregatorSelection: field(22, nameOrNumber('u8', { stable: 0, bandwidth: 1, count: 2 })),
  actorSystemPriority: field(24, integer('u16', 1)),
  userPortKey: field(25, integer('u16', 0, 1023)),
  actorSystem: field(26, hardwareAddress),
  dynamicLoadBalancing: field(27, toggle('u8')),
  peerNotificationDelay: field(28, milliseconds),
  lacpActive: field(29, toggle('u8')),
  arpMissedMax: field(30, integer('u8', 1)),
  nsTargets: field(31, addressList(6, MOST_TARGETS)),
  coupledControl: field(32, toggle('u8')),
  broadcastNeighbour: field(33, toggle('u8')),
  lacpStrict: field(34, toggle('u8')),
};
/** Of those that some modes do not have: the kernel lists them of every bond, and refuses them of one in another mode. */
const DEFAULTS: Partial<BondSettings> = {
  ...{ arpInterval: 0, arpTargets: [], arpValidation: 'none', arpMissedMax: 2, nsTargets: [] },
  ...{ packetsPerPort: 1, lacpRate: 'slow', lacpActive: true, lacpStrict: false },
  ...{ dynamicLoadBalancing: true, coupledControl: true, broadcastNeighbour: false },
  actorSystem: '00:00:00:00:00:00',
};

/** IFLA_BOND_AD_INFO. */
const AGGREGATOR_ATTRIBUTE = 23;
const AGGREGATOR: Fields<BondAggregator> = {
  id: field(1, integer('u16')),
  ports: field(2, integer('u16')),
  actorKey: field(3, integer('u16')),
  partnerKey: field(4, integer('u16')),
  partner: field(5, hardwareAddress),
};

/** The kind `bond`. */
export const BOND = kindOf<BondSettings, ListedBond>('a bond', SETTINGS, {
  readOnly: ['aggregator'],
  defaults: DEFAULTS,
  read(attribute, bond, links) {
    if (attribute.type !== AGGREGATOR_ATTRIBUTE) return false;
    bond['aggregator'] = readAggregator(attribute.nested(), links);
    return true;
  },
});

function readAggregator(attributes: AttributeCursor, links: LinkNames): BondAggregator {
  const aggregator: Record<string, unknown> = {};
  while (attributes.next()) readField(attributes, AGGREGATOR, aggregator, links);
  return aggregator;
}

const PORT_SETTINGS: Fields<BondPortSettings> = {
  queueId: field(5, integer('u16')),
  priority: field(9, integer('i32', -LARGEST_INT - 1)),
};
const PORT_STATE: Fields<Omit<ListedBondPort, keyof BondPortSettings | 'attributes'>> = {
  state: field(1, nameOrNumber('u8', { active: 0, backup: 1 })),
  miiStatus: field(2, nameOrNumber('u8', { up: 0, going_down: 1, down: 2, going_back: 3 })),
  linkFailures: field(3, integer('u32')),
  permanentAddress: field(4, hardwareAddress),
  aggregatorId: field(6, integer('u16')),
  actorState: field(7, integer('u8')),
  partnerState: field(8, integer('u16')),
};

/** A port of a bond. */
export const BOND_PORT = kindOf<BondPortSettings, ListedBondPort>('a port of a bond', PORT_SETTINGS, {
  listed: PORT_STATE,
});
