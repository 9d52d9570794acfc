// Valid settings of links.
import type {
  BridgePortSettings,
  BridgeSettings,
  LinkAttributes,
  LinkSettings,
  LinkSwitches,
  NewLinkSettings,
  VlanSettings,
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
  ...{ callIptables: true, callIp6tables: true, callArptables: true },
};
const PORT: BridgePortSettings = {
  ...{ state: 3, priority: 32, cost: 2, guard: false, hairpin: true, fastLeave: false, rootBlock: false },
  ...{ learning: true, flood: true, proxyArp: false, proxyArpWifi: false, multicastRouter: 1 },
  ...{ multicastFlood: true, broadcastFlood: true, multicastToUnicast: false, groupForwardMask: 8 },
  ...{ neighbourSuppression: false, vlanTunnel: false, isolated: true, locked: false, backupPort: 'eth1' },
};
const VLAN: VlanSettings & { readonly id: number } = {
  ...{ id: 5, protocol: '802.1Q', reorderHeader: true, gvrp: false, mvrp: false, looseBinding: false },
  ...{ bridgeBinding: false, ingressQosMap: [[0, 3]], egressQosMap: [[0, 3]] },
};

/** Name, kind and settings of links to add. */
export const NEW_LINKS = [
  ['a', 'bridge', { ...COMMON, bridge: BRIDGE, master: 'br0', index: 5, txQueues: 2, rxQueues: 2 }],
  ['b', 'vlan', { link: 'eth0', vlan: VLAN }],
  ['c', 'veth', { netns: 1, peer: { ...COMMON, name: 'd' } }],
  ['d', 'macvlan', { link: 'eth0' }],
] as const satisfies readonly (readonly [string, string, NewLinkSettings])[];

/** Changes of a link. */
export const CHANGES: readonly LinkSettings[] = [
  { ...COMMON, bridge: BRIDGE, master: 'br0', name: 'e', bridgePort: PORT },
  { netns: 1, vlan: VLAN, master: null },
];
