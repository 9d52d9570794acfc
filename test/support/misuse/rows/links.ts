// Valid settings of links.
import type {
  BondPortSettings,
  BondSettings,
  BridgePortSettings,
  BridgeSettings,
  GeneveSettings,
  GreSettings,
  Ip6GreSettings,
  Ip6TunnelSettings,
  IpipSettings,
  IpvlanSettings,
  LinkAttributes,
  LinkSettings,
  LinkSwitches,
  MacvlanSettings,
  NetkitSettings,
  NewLinkSettings,
  SitSettings,
  VlanSettings,
  VxlanSettings,
} from '../../../../src/kernel/rtnetlink/types.js';

const ATTRIBUTES: LinkAttributes = {
  ...{ mtu: 1400, txQueueLength: 100, address: '02:00:00:00:00:01', broadcast: 'ff:ff:ff:ff:ff:ff' },
  ...{ alias: 'a', group: 1, carrier: true, addressGeneration: 'none', protoDown: false },
  ...{ gsoMaxSize: 1000, gsoMaxSegments: 10, groMaxSize: 1000 },
};
const SWITCHES: LinkSwitches = {
  ...{ up: true, arp: false, multicast: true, allMulticast: false, promiscuous: false },
  ...{ dynamic: false, trailers: true },
};
const COMMON = { ...ATTRIBUTES, ...SWITCHES, netns: '/run/netns/blue' } as const;
const BRIDGE: BridgeSettings = {
  ...{ forwardDelay: 2, helloTime: 2, maxAge: 20, ageingTime: 300, stp: false, priority: 1 },
  ...{ vlanFiltering: true, vlanProtocol: '802.1Q', vlanDefaultPvid: 1, vlanStatistics: true },
  ...{ vlanStatisticsPerPort: true, groupForwardMask: 8, groupAddress: '01:80:c2:00:00:01' },
  ...{ noLinkLocalLearning: true, multicastSnooping: true, multicastVlanSnooping: false, multicastRouter: 1 },
  ...{ multicastQueryUseAddress: true, multicastQuerier: true, multicastHashElasticity: 16 },
  ...{ multicastHashMax: 4096, multicastLastMemberCount: 2, multicastStartupQueryCount: 2 },
  ...{ multicastLastMemberInterval: 1, multicastMembershipInterval: 1, multicastQuerierInterval: 1 },
  ...{ multicastQueryInterval: 1, multicastQueryResponseInterval: 1, multicastStartupQueryInterval: 1 },
  ...{ multicastStatistics: true, multicastIgmpVersion: 3, multicastMldVersion: 2 },
  ...{ callIptables: true, callIp6tables: true, callArptables: true, maxLearned: 5, stpMode: 'auto' },
  ...{ multipleSpanningTrees: false, offloadFailureNotification: true, localEntriesInVlan0: true },
};
const PORT: BridgePortSettings = {
  ...{ state: 3, priority: 32, cost: 2, guard: false, hairpin: true, fastLeave: false, rootBlock: false },
  ...{ learning: true, flood: true, proxyArp: false, proxyArpWifi: false, multicastRouter: 1 },
  ...{ multicastFlood: true, broadcastFlood: true, multicastToUnicast: false, groupForwardMask: 8 },
  ...{ neighbourSuppression: false, vlanTunnel: false, isolated: true, locked: false, backupPort: 'eth1' },
  ...{ macAuthenticationBypass: false, multicastHostsLimit: 512, multicastMaxGroups: 0 },
  ...{ neighbourVlanSuppression: false, backupNextHopId: 7, forwardGratuitous: false },
};
const VLAN: VlanSettings & { readonly id: number } = {
  ...{ id: 5, protocol: '802.1Q', reorderHeader: true, gvrp: false, mvrp: false, looseBinding: false },
  ...{ bridgeBinding: false, ingressQosMap: [[0, 3]], egressQosMap: [[0, 3]] },
};

const BOND: BondSettings = {
  ...{ mode: 'active-backup', activePort: 'eth0', miiInterval: 0, upDelay: 0, downDelay: 0 },
  ...{ useCarrier: true, arpInterval: 100, arpTargets: ['10.0.0.1'], arpValidation: 'all' },
  ...{ arpAllTargets: 'any', arpMissedMax: 2, nsTargets: ['fd00::1'], primary: 'eth0' },
  ...{ primaryReselection: 'always', failOverMac: 'none', hashPolicy: 'layer2', resendIgmp: 1 },
  ...{ peerNotifications: 1, peerNotificationDelay: 0, allPortsActive: false, minLinks: 1 },
  ...{ learnPacketInterval: 1, packetsPerPort: 1, lacpRate: 'slow', lacpActive: true },
  ...{ aggregatorSelection: 'stable', actorSystemPriority: 1, actorSystem: '02:00:00:00:00:01' },
  ...{ userPortKey: 1, dynamicLoadBalancing: true, coupledControl: true, broadcastNeighbour: false },
  lacpStrict: false,
};
const BOND_PORT: BondPortSettings = { queueId: 1, priority: 5 };
const VXLAN: VxlanSettings = {
  ...{ remote: '10.0.0.2', local: '10.0.0.1', link: 'eth0', port: 4789, sourcePorts: { first: 1, last: 2 } },
  ...{ ttl: 5, tos: 1, flowLabel: 1, dontFragment: 'set', learning: true, ageingTime: 300, addressLimit: 5 },
  ...{ proxy: false, routeShortCircuit: false, l2Miss: false, l3Miss: false, udpChecksum: true },
  ...{ udp6ZeroChecksumTx: false, udp6ZeroChecksumRx: false, remoteChecksumTx: false },
  ...{ remoteChecksumRx: false, remoteChecksumNoPartial: true, groupPolicy: true, genericProtocol: false },
  ...{ vniFilter: false, localBypass: true, flowLabelPolicy: 'fixed', reservedBits: 5n },
  multicastRouting: false,
};
const MACVLAN: MacvlanSettings = {
  ...{ mode: 'source', flags: ['nodst'], sources: ['02:00:00:00:00:01'], broadcastQueueLength: 5 },
  broadcastCutoff: 1,
};
const IPVLAN: IpvlanSettings = { mode: 'l2', flags: ['private'] };

const GENEVE: GeneveSettings = {
  ...{
    remote: '10.0.0.2',
    local: '10.0.0.1',
    port: 6081,
    sourcePorts: { first: 1, last: 2 },
    ttl: 5,
    tos: 1,
    flowLabel: 0,
  },
  ...{ dontFragment: 'set', udpChecksum: true, udp6ZeroChecksumTx: false, udp6ZeroChecksumRx: false },
  ...{ innerProtocolInherit: false, groHint: false },
};
const TUNNEL = {
  ...{ link: 'eth0', ttl: 0, mark: 1, external: false },
  ...{ encapsulationSourcePort: 1, encapsulationDestinationPort: 2 },
  encapsulation: 'fou',
  encapsulationFlags: ['checksum'],
} as const;
const TUNNEL4 = { ...TUNNEL, remote: '10.0.0.2', local: '10.0.0.1', tos: 0, pathMtuDiscovery: true } as const;
const TUNNEL6 = {
  ...{ ...TUNNEL, remote: 'fd00::2', local: 'fd00::1', encapsulationLimit: 4, flowInfo: 5 },
  flags: ['copyDscp'],
} as const;
const GRE_HEADER = {
  ...{ inputKey: 1, outputKey: 2, inputSequence: false, outputSequence: false, inputChecksum: true },
  outputChecksum: true,
} as const;
const GRE: GreSettings = { ...TUNNEL4, ...GRE_HEADER, ignoreDontFragment: false };
const IP6GRE: Ip6GreSettings = { ...TUNNEL6, ...GRE_HEADER };
const IP6TNL: Ip6TunnelSettings = { ...TUNNEL6, protocol: 41 };
const IPIP: IpipSettings = { ...TUNNEL4, protocol: 4 };
const SIT: SitSettings = {
  ...{ ...TUNNEL4, protocol: 41, flags: 0, rapidPrefix: '2002::', rapidPrefixLength: 16 },
  ...{ rapidRelayPrefix: '0.0.0.0', rapidRelayPrefixLength: 0 },
};
const NETKIT: NetkitSettings = {
  ...{ mode: 'l2', policy: 'pass', peerPolicy: 'drop', scrub: 'none', peerScrub: 'default' },
  ...{ headroom: 1, tailroom: 2, pairing: 'pair' },
};

/** Name, kind and settings of links to add. */
export const NEW_LINKS = [
  ['a', 'bridge', { ...COMMON, bridge: BRIDGE, master: 'br0', index: 5, txQueues: 2, rxQueues: 2 }],
  ['b', 'vlan', { link: 'eth0', vlan: VLAN }],
  ['c', 'veth', { netns: 1, peer: { ...COMMON, name: 'd' } }],
  ['d', 'macvlan', { link: 'eth0', macvlan: MACVLAN }],
  ['e', 'macvtap', { link: 'eth0', macvtap: MACVLAN }],
  ['f', 'ipvlan', { link: 'eth0', ipvlan: IPVLAN }],
  ['g', 'ipvtap', { link: 'eth0', ipvtap: IPVLAN }],
  ['h', 'bond', { bond: BOND }],
  ['i', 'vxlan', { vxlan: { ...VXLAN, id: 5 } }],
  ['j', 'vxlan', { vxlan: { external: true } }],
  ['k', 'vrf', { vrf: { table: 'main' } }],
  ['l', 'geneve', { geneve: { ...GENEVE, id: 5 } }],
  ['m', 'geneve', { geneve: { external: true } }],
  ['n', 'gre', { gre: GRE }],
  ['o', 'gretap', { gretap: GRE }],
  ['p', 'ip6gre', { ip6gre: IP6GRE }],
  ['q', 'ip6gretap', { ip6gretap: IP6GRE }],
  ['r', 'ip6tnl', { ip6tnl: IP6TNL }],
  ['s', 'ipip', { ipip: IPIP }],
  ['t', 'sit', { sit: SIT }],
  ['u', 'netkit', { netkit: NETKIT, peer: { name: 'v' } }],
] as const satisfies readonly (readonly [string, string, NewLinkSettings])[];

/** Changes of a link. */
export const CHANGES: readonly LinkSettings[] = [
  { ...COMMON, bridge: BRIDGE, master: 'br0', name: 'e', bridgePort: PORT },
  { netns: 1, vlan: VLAN, master: null },
  { bond: BOND, bondPort: BOND_PORT },
  { bond: { activePort: null, primary: null } },
  { vxlan: { ...VXLAN, id: 5 } },
  { vxlan: { external: true } },
  { macvlan: MACVLAN },
  { macvtap: MACVLAN },
  { ipvlan: IPVLAN },
  { ipvtap: IPVLAN },
  { vrf: { table: 5 } },
  { geneve: { ...GENEVE, id: 5 } },
  { geneve: { external: true } },
  { gre: GRE },
  { gretap: GRE },
  { ip6gre: IP6GRE },
  { ip6gretap: IP6GRE },
  { ip6tnl: IP6TNL },
  { ipip: IPIP },
  { sit: SIT },
  { netkit: NETKIT },
];
