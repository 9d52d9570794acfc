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
  TunnelKind,
  TunnelSettings,
} from '../../rtnetlink/types.js';
import type { Refusal } from '../client.js';
import { type Held, TUNNEL_KINDS } from './carrier.js';
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

const { EACCES, EBUSY, EEXIST, EINVAL, EOPNOTSUPP } = constants.errno;

const MACVLAN = {
  mode: 'vepa',
  flags: [],
  broadcastQueueLength: 1000,
  usedBroadcastQueueLength: 1000,
} as const;
const IPVLAN = { mode: 'l3', flags: [] } as const;
const TUNNEL = {
  ...{ ttl: 0, mark: 0, encapsulationFlags: [], encapsulationSourcePort: 0, encapsulationDestinationPort: 0 },
  encapsulation: 'none',
} as const;
const TUNNEL4 = { ...TUNNEL, local: '0.0.0.0', remote: '0.0.0.0', tos: 0, pathMtuDiscovery: true } as const;
const TUNNEL6 = {
  ...{ ...TUNNEL, local: '::', remote: '::', encapsulationLimit: 0, flowInfo: 0, flags: [] },
} as const;
const GRE_HEADER = {
  ...{ inputSequence: false, inputChecksum: false, outputSequence: false, outputChecksum: false },
} as const;
const GRE = { ...TUNNEL4, ...GRE_HEADER, ignoreDontFragment: false } as const;
const IP6GRE = { ...TUNNEL6, ...GRE_HEADER } as const;

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
  geneve: {
    ...{ id: 0, ttl: 0, tos: 0, flowLabel: 0, dontFragment: 'unset', port: 6081, udp6ZeroChecksumRx: true },
    sourcePorts: { first: 1, last: 65535 },
  },
  gre: GRE,
  gretap: GRE,
  ip6gre: IP6GRE,
  ip6gretap: IP6GRE,
  ip6tnl: { ...TUNNEL6, protocol: 0 },
  ipip: { ...TUNNEL4, protocol: 4 },
  sit: { ...TUNNEL4, ttl: 64, protocol: 41, flags: 0 },
  netkit: {
    ...{ mode: 'l3', policy: 'pass', peerPolicy: 'pass', scrub: 'default', peerScrub: 'default' },
    ...{ headroom: 0, tailroom: 0, pairing: 'pair', primary: true },
  },
} as const satisfies { readonly [Kind in WrittenKind]: Partial<NonNullable<Link[Kind]>> };

/** Settings that are changed later, of kinds of which not all are. */
const CHANGEABLE = {
  vxlan: new Set<string>([
    ...['id', 'remote', 'local', 'link', 'ttl', 'tos', 'flowLabel', 'dontFragment', 'learning', 'ageingTime'],
    ...['vniFilter', 'localBypass'],
  ]),
  geneve: new Set<string>(['id', 'remote', 'ttl', 'tos', 'flowLabel', 'dontFragment', 'sourcePorts']),
  netkit: new Set<string>(['policy', 'peerPolicy']),
} as const;

/** Tunnels that have frames of Ethernet. */
const TAPS: ReadonlySet<string> = new Set(['gretap', 'ip6gretap']);

/** The kind, if it is one of tunnels of IP. */
function tunnelKind(kind: string): TunnelKind | undefined {
  return TUNNEL_KINDS.find((each) => each === kind);
}

/** Kinds without ARP, that send no multicasts. */
const WITHOUT_ARP: ReadonlySet<string> = new Set(['dummy', 'ifb']);

/** The flags of a new link. */
export function flagsOfKind(kind: string): LinkFlag[] {
  if (kind === 'vrf') return ['noarp', 'master'];
  if (WITHOUT_ARP.has(kind)) return ['broadcast', 'noarp'];
  if (kind === 'wireguard') return ['pointopoint', 'noarp'];
  if (kind === 'netkit' || (tunnelKind(kind) && !TAPS.has(kind))) return ['noarp'];
  return kind === 'bond' ? ['broadcast', 'multicast', 'master'] : ['broadcast', 'multicast'];
}

/** NLA_FLAG, unless a kind has a default of it. */
const LISTED_IF_TRUE: ReadonlySet<string> = new Set([
  ...['external', 'innerProtocolInherit', 'groHint', 'groupPolicy', 'genericProtocol'],
  'remoteChecksumNoPartial',
]);

/** The settings of a kind with the values that are given; null removes one. */
function merged(before: object, given: object): Record<string, unknown> {
  const settings: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(given)) {
    const isAbsent = value === null || (value === false && LISTED_IF_TRUE.has(name) && !(name in before));
    if (isAbsent) delete settings[name];
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

/** Gives the other end of a pair what the kernel lists of it. */
export function setPeerKind(peer: Held, { netkit }: Held): void {
  if (!netkit) return;
  const { policy, peerPolicy, scrub, peerScrub, ...both } = netkit;
  const own = { policy: peerPolicy, peerPolicy: policy, scrub: peerScrub, peerScrub: scrub };
  peer.netkit = merged(both, { ...own, primary: false });
}

/** Changes the settings of the kind of a link. */
export function changeKind(held: Held, settings: LinkSettings): void {
  for (const kind of WRITTEN_KIND_NAMES) {
    const given = settings[kind];
    if (!given) continue;
    const isTunnel = tunnelKind(kind) !== undefined;
    const { mark = 0 } = (held[kind] ?? {}) as TunnelSettings;
    const before = isTunnel ? { ...DEFAULTS[kind], mark } : (held[kind] ?? {});
    Object.assign(held, { [kind]: merged(before, given) });
  }
}

/** Why a link is not created for its kind. */
export function refusalOfNew(
  kind: string,
  settings: NewLinkSettings,
  others: readonly Link[],
): Refusal | undefined {
  const { link: below, vlan, vxlan, vrf, geneve } = settings;
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
    case 'geneve': {
      const { id, remote, port } = { ...DEFAULTS.geneve, remote: undefined, ...geneve };
      const isSame = (other: Link['geneve']) =>
        other?.id === id && other.port === port && other.remote === remote;
      return others.some((each) => isSame(each.geneve)) ? EBUSY : undefined;
    }
    case 'vrf':
      return vrf?.table === 0 ? NO_TABLE : undefined;
    default:
      return sameTunnel(kind, settings, others) ? EEXIST : undefined;
  }
}

/** Whether there is a tunnel of the kind with the same ends and key. */
function sameTunnel(kind: string, settings: NewLinkSettings, others: readonly Link[]): boolean {
  const tunnel = tunnelKind(kind);
  if (tunnel === undefined) return false;
  const { local, remote, link, inputKey } = { ...DEFAULTS[tunnel], ...settings[tunnel] } as Link['gre'] & {};
  return others.some(({ [tunnel]: held }) => {
    const other = held as Link['gre'];
    const isSame = other?.local === local && other?.remote === remote && other?.link === link;
    return isSame && other?.inputKey === inputKey;
  });
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
  if (vxlan?.id !== undefined && vxlan.id !== held.vxlan?.id) return OTHER_VNI;
  if (vxlan?.port !== undefined) return OTHER_PORT;
  if (kind === 'netkit' && !held.netkit?.primary) return EACCES;
  if (kind !== 'vxlan' && kind !== 'geneve' && kind !== 'netkit') return undefined;
  const areChangeable = Object.keys(settings[kind] ?? {}).every((name) => CHANGEABLE[kind].has(name));
  if (kind === 'netkit') return areChangeable ? undefined : EACCES;
  return areChangeable && vxlan?.ttl !== 'inherit' ? undefined : EOPNOTSUPP;
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
