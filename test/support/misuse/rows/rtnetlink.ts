// Valid calls of rtnetlink.
import type {
  NewLinkAddress,
  NewNamespaceId,
  NewNeighbour,
  NewNextHopObject,
  NewRoute,
  NewRule,
  RouteFilter,
  RouteQuery,
  Rtnetlink,
  RtnetlinkOperation,
} from '../../../../src/kernel/rtnetlink/types.js';
import { CHANGES, NEW_LINKS } from './links.js';
import { alone, CALL, type Rows } from './row.js';

const ADDRESSES: readonly NewLinkAddress[] = [
  {
    ...{
      link: 'eth0',
      address: '10.0.0.1',
      prefix: 24,
      peer: '10.0.0.2',
      scope: 'link',
      broadcast: '10.0.0.255',
    },
    ...{ label: 'eth0:1', metric: 5, validLifetime: 100, preferredLifetime: 50, flags: ['noprefixroute'] },
    protocol: 200,
  },
];
const ID = { link: 'eth0', address: '10.0.0.1', prefix: 24, peer: '10.0.0.2' };
const HOP = { gateway: '10.0.0.1', link: 'eth0', realms: 5, flags: ['onlink'] } as const;
const ROUTES: readonly NewRoute[] = [
  {
    ...{
      destination: 'fd00::/64',
      family: 6,
      type: 'unicast',
      table: 'main',
      protocol: 'static',
      scope: 'global',
    },
    ...{
      metric: 5,
      source: 'fd01::/64',
      tos: 0,
      preferredSource: 'fd01::1',
      gateway: 'fd02::1',
      link: 'eth0',
    },
    ...{ flags: ['onlink'], expires: 60, preference: 'high' },
    metrics: {
      ...{ mtu: 1400, advertisedMss: 1360, window: 1, rtt: 1, rttVariance: 1, slowStartThreshold: 1 },
      ...{ congestionWindow: 1, initialCongestionWindow: 1, initialReceiveWindow: 1, reordering: 1 },
      ...{ hopLimit: 1, minimumRto: 1, quickAck: true, fastOpenNoCookie: true, features: 1 },
      ...{ congestionControl: 'reno', locked: ['mtu'] },
    },
  },
  { destination: '10.0.0.0/8', nextHops: [{ ...HOP, weight: 2 }] },
  { destination: '10.0.0.0/8', nextHopId: 1 },
  { destination: '10.0.0.0/8', linkIndex: 1, realms: 0x1_0002 },
  { destination: '10.0.0.0/8', nextHops: [{ gateway: '10.0.0.1', linkIndex: 1 }] },
];
const FILTER: RouteFilter = { family: 4, table: 'main', protocol: 'static', type: 'unicast', link: 'eth0' };
const QUERY: RouteQuery = {
  ...{ from: '10.0.0.2', inputLink: 'eth0', outputLink: 'eth1', tos: 0, mark: 1, uid: 0 },
  ...{ ipProtocol: 6, sourcePort: 1, destinationPort: 2, fibMatch: true },
};
const RULES: readonly NewRule[] = [
  {
    ...{ family: 4, priority: 100, from: '10.0.0.0/8', to: '10.1.0.0/16', invert: true, tos: 8 },
    ...{ mark: { value: 1, mask: 1 }, inputLink: 'eth0', outputLink: 'eth1', ipProtocol: 6 },
    ...{ sourcePorts: { first: 1, last: 2 }, destinationPorts: { first: 1, last: 2 } },
    ...{ uids: { first: 0, last: 1 }, action: 'lookup', table: 'main' },
    ...{ suppressPrefixLength: 0, suppressGroup: 1, protocol: 'static' },
  },
  {
    ...{ family: 6, priority: 101, dscp: 10, dscpMask: 62, flowLabel: 5, flowLabelMask: 255 },
    ...{ sourcePorts: { first: 1, last: 1 }, sourcePortMask: 255 },
    ...{ destinationPorts: { first: 1, last: 1 }, destinationPortMask: 255, tunnelId: 5n, realms: 7 },
  },
  { action: 'goto', goto: 200, priority: 10 },
  { l3mdev: true, priority: 10 },
];
const NEIGHBOUR: NewNeighbour = {
  ...{ link: 'eth0', address: '10.0.0.9', proxy: false, hardwareAddress: '02:00:00:00:00:01' },
  ...{ state: 'permanent', flags: ['router'], protocol: 'static' },
};
const NEXT_HOPS: readonly NewNextHopObject[] = [
  { id: 7, protocol: 'static', link: 'eth0', gateway: 'fd00::1', family: 6, flags: ['onlink'] },
  { id: 7, blackhole: true, family: 4 },
  { id: 7, fdb: true, gateway: '10.0.0.1', family: 4 },
  {
    ...{ id: 7, group: [{ id: 1, weight: 2 }], fdb: false },
    resilient: { buckets: 8, idleTimer: 60, unbalancedTimer: 300 },
  },
];
const BRIDGE_VLANS = [
  { link: 'eth0', vlan: 5, lastVlan: 7, self: false, pvid: false, untagged: true },
  { link: 3, vlan: 5, pvid: true },
];
const ENTRY_ID = {
  ...{ link: 'vx42', hardwareAddress: '02:00:00:00:00:01', master: false, destination: '192.0.2.7' },
  ...{ port: 4790, vni: 43, outputLink: 'eth0', sourceVni: 44 },
};
const BRIDGE_ENTRY_ID = { link: 'eth0', hardwareAddress: '02:00:00:00:00:02', master: true, vlan: 7 };
const ENTRIES = [
  { ...ENTRY_ID, state: 'permanent', flags: ['router'] },
  {
    link: 'eth0',
    hardwareAddress: '02:00:00:00:00:01',
    master: true,
    vlan: 10,
    state: 'static',
    protocol: 'static',
  },
  { link: 3, hardwareAddress: '00:00:00:00:00:00', nextHopId: 7 },
] as const;
const NEIGHBOUR_ID = { link: 'eth0', address: '10.0.0.9', proxy: true };

const NAMESPACE_IDS: readonly NewNamespaceId[] = [
  { netns: '/run/netns/blue', id: 5 },
  { netns: 7, id: 0 },
];

const OPERATIONS: readonly RtnetlinkOperation[] = [
  ...NEW_LINKS.map(
    ([name, kind, settings]) => ({ do: 'addLink', name, kind, settings }) as RtnetlinkOperation,
  ),
  ...CHANGES.map((settings) => ({ do: 'setLink', link: 'eth0', settings }) as const),
  { do: 'deleteLink', link: 'eth0' },
  { do: 'deleteLink', name: 'eth0' },
  ...ADDRESSES.map((address) => ({ do: 'addAddress', address }) as const),
  ...ADDRESSES.map((address) => ({ do: 'replaceAddress', address }) as const),
  { do: 'deleteAddress', address: ID },
  ...ROUTES.map((route) => ({ do: 'addRoute', route }) as const),
  ...RULES.map((rule) => ({ do: 'addRule', rule }) as const),
  { do: 'addNeighbour', neighbour: NEIGHBOUR },
  { do: 'deleteNeighbour', neighbour: NEIGHBOUR_ID },
  ...NEXT_HOPS.map((nextHop) => ({ do: 'addNextHop', nextHop }) as const),
  { do: 'deleteNextHop', nextHop: { id: 7 } },
  ...NAMESPACE_IDS.map((namespaceId) => ({ do: 'setNamespaceId', namespaceId }) as const),
  ...BRIDGE_VLANS.map((bridgeVlan) => ({ do: 'addBridgeVlan', bridgeVlan }) as const),
  { do: 'addAlternativeName', link: 'eth0', name: 'uplink' },
  { do: 'deleteAlternativeName', link: 5, name: 'uplink' },
  { do: 'deleteBridgeVlan', bridgeVlan: { link: 'eth0', vlan: 5, lastVlan: 7, self: false } },
  ...ENTRIES.map((entry) => ({ do: 'addForwardingEntry', entry }) as const),
  { do: 'deleteForwardingEntry', entry: ENTRY_ID },
  { do: 'deleteForwardingEntry', entry: BRIDGE_ENTRY_ID },
];

/** Valid calls of each verb. */
export const RTNETLINK: Rows<Rtnetlink> = {
  listLinks: [[CALL]],
  getLink: [
    ['eth0', CALL],
    [1, CALL],
  ],
  listLinkStatistics: [[CALL]],
  getLinkStatistics: [
    ['eth0', CALL],
    [1, CALL],
  ],
  addLink: NEW_LINKS.map(([name, kind, settings]) => [name, kind as string, settings, CALL] as never),
  setLink: CHANGES.map((settings) => ['eth0', settings, CALL]),
  deleteLink: [['eth0', CALL], [2]],
  listAddresses: [
    ['eth0', CALL],
    [1, CALL],
  ],
  addAddress: ADDRESSES.map((address) => [address, CALL]),
  replaceAddress: ADDRESSES.map((address) => [address, CALL]),
  deleteAddress: [[ID, CALL]],
  listRoutes: [[FILTER, CALL]],
  getRoute: [['10.0.0.1', QUERY, CALL]],
  addRoute: ROUTES.map((route) => [route, CALL]),
  changeRoute: ROUTES.map((route) => [route, CALL]),
  replaceRoute: ROUTES.map((route) => [route, CALL]),
  appendRoute: ROUTES.map((route) => [route, CALL]),
  deleteRoute: ROUTES.map((route) => [route, CALL]),
  listRules: [[4, CALL]],
  addRule: RULES.map((rule) => [rule, CALL]),
  deleteRule: RULES.map((rule) => [rule, CALL]),
  listNeighbours: [[{ family: 4, link: 'eth0', proxy: true }, CALL]],
  getNeighbour: [[NEIGHBOUR_ID, CALL]],
  addNeighbour: [[NEIGHBOUR, CALL]],
  changeNeighbour: [[NEIGHBOUR, CALL]],
  replaceNeighbour: [[NEIGHBOUR, CALL]],
  deleteNeighbour: [[NEIGHBOUR_ID, CALL]],
  listNextHops: [
    [{ family: 4, link: 'eth0' }, CALL],
    [{ link: 3 }, CALL],
  ],
  getNextHop: [[7, CALL]],
  addNextHop: NEXT_HOPS.map((nextHop) => [nextHop, CALL]),
  replaceNextHop: NEXT_HOPS.map((nextHop) => [nextHop, CALL]),
  deleteNextHop: [[{ id: 7 }, CALL]],
  listBridgeVlans: [
    ['eth0', CALL],
    [1, CALL],
  ],
  addBridgeVlan: BRIDGE_VLANS.map((bridgeVlan) => [bridgeVlan, CALL]),
  addAlternativeName: [['eth0', 'uplink', CALL]],
  deleteAlternativeName: [[5, 'uplink', CALL]],
  deleteBridgeVlan: [[{ link: 'eth0', vlan: 5, lastVlan: 7, self: false }, CALL]],
  listForwardingEntries: [
    ['eth0', CALL],
    [1, CALL],
  ],
  addForwardingEntry: ENTRIES.map((entry) => [entry, CALL]),
  appendForwardingEntry: ENTRIES.map((entry) => [entry, CALL]),
  replaceForwardingEntry: ENTRIES.map((entry) => [entry, CALL]),
  deleteForwardingEntry: [
    [ENTRY_ID, CALL],
    [BRIDGE_ENTRY_ID, CALL],
  ],
  listNamespaceIds: [[CALL]],
  getNamespaceId: [
    ['/run/netns/blue', CALL],
    [7, CALL],
  ],
  setNamespaceId: NAMESPACE_IDS.map((namespaceId) => [namespaceId, CALL]),
  apply: alone(...OPERATIONS),
  watch: [[{ ...CALL, gather: 1, keepAlive: false, receiveBuffer: 65_536, kinds: ['link'] }]],
  capabilities: [[CALL]],
  port: [[CALL]],
};
