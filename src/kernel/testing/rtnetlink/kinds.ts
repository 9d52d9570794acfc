// The kinds of links in memory: what the kernel lists of a new link, and what it refuses.
import { constants } from 'node:os';
import { WRITTEN_KIND_NAMES, type WrittenKind } from '../../rtnetlink/links/kinds/index.js';
import type {
  BondPortSettings,
  Link,
  LinkFlag,
  LinkSettings,
  ListedBondPort,
  NewLinkSettings,
} from '../../rtnetlink/types.js';
import type { Refusal } from '../client.js';
import type { Held } from './carrier.js';
import {
  BOND_HAS_PORTS,
  BOND_IS_UP,
  BRIDGE_IN_BRIDGE,
  NO_LINK_OF_GROUP,
  NO_TABLE,
  OTHER_PORT,
  OTHER_VNI,
  UP_BEFORE_BOND,
  VLAN_EXISTS,
  VRF_IN_VRF,
  VXLAN_EXISTS,
} from './refusals.js';

const { EINVAL, EOPNOTSUPP } = constants.errno;

const MACVLAN = {
  mode: 'vepa',
  flags: [],
  broadcastQueueLength: 1000,
  usedBroadcastQueueLength: 1000,
} as const;
const IPVLAN = { mode: 'l3', flags: [] } as const;

/** What the kernel lists of a new link without settings. */
const DEFAULTS = {
  bridge: { stp: false, forwardDelay: 15, ageingTime: 300 },
  vlan: { protocol: '802.1Q', reorderHeader: true },
  bond: {
    ...{ mode: 'balance-rr', miiInterval: 0, upDelay: 0, downDelay: 0, peerNotificationDelay: 0 },
    ...{ useCarrier: true, arpInterval: 0, arpValidation: 'none', arpAllTargets: 'any', arpMissedMax: 2 },
    ...{ primaryReselection: 'always', failOverMac: 'none', hashPolicy: 'layer2', resendIgmp: 1 },
    ...{ peerNotifications: 1, allPortsActive: false, minLinks: 0, learnPacketInterval: 1 },
    ...{ packetsPerPort: 1, lacpActive: true, lacpRate: 'slow', aggregatorSelection: 'stable' },
    dynamicLoadBalancing: true,
  },
  vxlan: {
    ...{ id: 0, ttl: 0, tos: 0, flowLabel: 0, dontFragment: 'unset', learning: true, ageingTime: 300 },
    ...{ addressLimit: 0, sourcePorts: { first: 0, last: 0 }, port: 8472, proxy: false },
    ...{ routeShortCircuit: false, l2Miss: false, l3Miss: false, udpChecksum: true },
    ...{ udp6ZeroChecksumTx: false, udp6ZeroChecksumRx: false, remoteChecksumTx: false },
    ...{ remoteChecksumRx: false, external: false, vniFilter: false },
  },
  macvlan: MACVLAN,
  macvtap: MACVLAN,
  ipvlan: IPVLAN,
  ipvtap: IPVLAN,
  vrf: {},
} as const satisfies { readonly [Kind in WrittenKind]: Partial<NonNullable<Link[Kind]>> };

/** Settings of a VXLAN that are changed later. */
const CHANGEABLE: ReadonlySet<string> = new Set([
  ...['id', 'remote', 'local', 'link', 'ttl', 'tos', 'flowLabel', 'dontFragment', 'learning', 'ageingTime'],
  ...['vniFilter', 'localBypass'],
]);

/** Kinds without ARP, that send no multicasts. */
const WITHOUT_ARP: ReadonlySet<string> = new Set(['dummy', 'ifb']);

/** The flags of a new link. */
export function flagsOfKind(kind: string): LinkFlag[] {
  if (kind === 'vrf') return ['noarp', 'master'];
  if (WITHOUT_ARP.has(kind)) return ['broadcast', 'noarp'];
  return kind === 'bond' ? ['broadcast', 'multicast', 'master'] : ['broadcast', 'multicast'];
}

/** The settings of a kind with the values that are given; null removes one. */
function merged(before: object, given: object): Record<string, unknown> {
  const settings: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(given)) {
    if (value === null) delete settings[name];
    else if (value !== undefined) settings[name] = value;
  }
  return settings;
}

/** Gives a new link the settings of its kind. */
export function setNewKind(held: Held, settings: NewLinkSettings): void {
  const kind = WRITTEN_KIND_NAMES.find((each) => each === held.kind);
  if (kind === undefined) return;
  Object.assign(held, { [kind]: merged(DEFAULTS[kind], settings[kind] ?? {}) });
}

/** Changes the settings of the kind of a link. */
export function changeKind(held: Held, settings: LinkSettings): void {
  for (const kind of WRITTEN_KIND_NAMES) {
    const given = settings[kind];
    if (given) Object.assign(held, { [kind]: merged(held[kind] ?? {}, given) });
  }
}

/** Why a link is not created for its kind. */
export function refusalOfNew(
  kind: string,
  settings: NewLinkSettings,
  others: readonly Link[],
): Refusal | undefined {
  const { link: below, vlan, vxlan, vrf } = settings;
  switch (kind) {
    case 'vlan':
      if (vlan?.id === undefined || below === undefined) return EINVAL;
      return others.some((each) => each.link === below && each.vlan?.id === vlan.id)
        ? VLAN_EXISTS
        : undefined;
    case 'vxlan': {
      if (isMulticast(vxlan?.remote) && vxlan?.link === undefined) return NO_LINK_OF_GROUP;
      const { id, port } = { ...DEFAULTS.vxlan, ...vxlan };
      return others.some((each) => each.vxlan?.id === id && each.vxlan.port === port)
        ? VXLAN_EXISTS
        : undefined;
    }
    case 'vrf':
      return vrf?.table === 0 ? NO_TABLE : undefined;
    default:
      return undefined;
  }
}

function isMulticast(address: string | undefined): boolean {
  return address !== undefined && /^(22[4-9]|23\d)\.|^ff/i.test(address);
}

/** Why the settings of the kind of a link are not changed. */
export function refusalOfChange(held: Link, settings: LinkSettings, hasPorts: boolean): Refusal | undefined {
  const { bond, vxlan } = settings;
  const kind = WRITTEN_KIND_NAMES.find((each) => settings[each] !== undefined);
  if (kind === undefined) return undefined;
  if (kind !== held.kind || kind === 'vrf') return EOPNOTSUPP;
  if (bond?.mode !== undefined || bond?.failOverMac !== undefined) {
    if (hasPorts) return BOND_HAS_PORTS;
    if (bond.mode !== undefined && held.up) return BOND_IS_UP;
  }
  if (!vxlan) return undefined;
  if (vxlan.id !== undefined && vxlan.id !== held.vxlan?.id) return OTHER_VNI;
  if (vxlan.port !== undefined) return OTHER_PORT;
  return Object.keys(vxlan).every((name) => CHANGEABLE.has(name)) && vxlan.ttl !== 'inherit'
    ? undefined
    : EOPNOTSUPP;
}

/** Why a link does not become a port of another. */
export function refusalOfPort(held: Link, master: Link): Refusal | undefined {
  switch (master.kind) {
    case 'bridge':
      if (held.kind === 'bridge') return BRIDGE_IN_BRIDGE;
      return held.name === 'lo' ? EINVAL : undefined;
    case 'bond':
      if (held.name === 'lo') return EINVAL;
      return held.up ? UP_BEFORE_BOND : undefined;
    case 'vrf':
      if (held.name === 'lo') return EOPNOTSUPP;
      return held.kind === 'vrf' ? VRF_IN_VRF : undefined;
    default:
      return EOPNOTSUPP;
  }
}

/** What a new port of a bridge has. */
const BRIDGE_PORT = { state: 0, priority: 32 } as const;

/** What a link lists as a new port of another. */
export function newPort(held: Link, master: Link): Partial<Held> {
  switch (master.kind) {
    case 'bridge':
      return { bridgePort: { ...BRIDGE_PORT } };
    case 'bond': {
      const { address } = held;
      const port: ListedBondPort = {
        ...{ state: 'active', miiStatus: 'up', linkFailures: 0, queueId: 0, priority: 0 },
        ...(address !== undefined && { permanentAddress: address }),
      };
      return { bondPort: port };
    }
    case 'vrf':
      return { vrfPort: { ...(master.vrf?.table !== undefined && { table: master.vrf.table }) } };
    default:
      return {};
  }
}

/** Changes what a link has as a port. */
export function changePort(held: Held, { bridgePort, bondPort }: LinkSettings): void {
  if (held.bridgePort) {
    const { backupPort, ...port } = { ...held.bridgePort, ...bridgePort };
    held.bridgePort = typeof backupPort === 'string' ? { ...port, backupPort } : port;
  }
  if (held.bondPort) held.bondPort = { ...held.bondPort, ...(bondPort as BondPortSettings | undefined) };
}

/** Whether the settings of a port are those of the master that a link has, or gets. */
export function isPortOf(kind: string | undefined, { bridgePort, bondPort }: LinkSettings): boolean {
  return (bridgePort === undefined || kind === 'bridge') && (bondPort === undefined || kind === 'bond');
}
