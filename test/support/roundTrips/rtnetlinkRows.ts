// Objects of rtnetlink for round trips: every kind of object, both families, and every field that the kernel lists.
import type {
  NewLinkAddress,
  NewNeighbour,
  NewNextHopObject,
  NewRoute,
  NewRule,
  RtnetlinkOperation,
} from '../../../src/kernel/rtnetlink/types.js';

const va = { link: 'va' } as const;

export const ADDRESSES: Readonly<Record<string, NewLinkAddress>> = {
  'an address of IPv4': { ...va, address: '10.2.0.1', prefix: 24 },
  'one of a point-to-point link': { ...va, address: '10.2.0.1', prefix: 32, peer: '10.2.0.2' },
  'one with every setting': {
    ...{ ...va, address: '10.2.0.1', prefix: 24, broadcast: '10.2.0.255', label: 'va:x', scope: 'link' },
    ...{ metric: 7, flags: ['noprefixroute'], validLifetime: 5000, preferredLifetime: 4000 },
  },
  'one with a scope of its own': { ...va, address: '10.2.0.1', prefix: 24, scope: 100 },
  'one with an origin': { ...va, address: '10.2.0.1', prefix: 24, protocol: 200 },
  'an address of IPv6': { ...va, address: 'fd02::1', prefix: 64, flags: ['nodad'] },
  'one of a point-to-point link of IPv6': {
    ...va,
    ...{ address: 'fd02::1', prefix: 128, peer: 'fd02::2', flags: ['nodad'] },
  },
  'one of IPv6 with every setting': {
    ...{ ...va, address: 'fd02::1', prefix: 64, metric: 7, protocol: 200 },
    ...{ flags: ['nodad', 'home', 'mngtmpaddr', 'noprefixroute'], validLifetime: 5000, preferredLifetime: 0 },
  },
  'an IPv4-mapped one': { ...va, address: '::ffff:10.2.0.1', prefix: 128, flags: ['nodad'] },
};

const METRICS = {
  ...{ mtu: 1400, advertisedMss: 1360, window: 1000, rtt: 100, rttVariance: 50, slowStartThreshold: 9 },
  ...{ congestionWindow: 7, initialCongestionWindow: 8, initialReceiveWindow: 9, reordering: 3 },
  ...{ hopLimit: 9, minimumRto: 300, quickAck: true, features: 1, congestionControl: 'reno' },
} as const;

export const ROUTES: Readonly<Record<string, NewRoute>> = {
  'a route by a gateway': { destination: '10.9.0.0/16', gateway: '10.1.0.2' },
  'one by a link': { destination: '10.9.0.0/16', link: 'va' },
  'one of all addresses': { destination: 'default', gateway: '10.1.0.2', metric: 5 },
  'one with every field': {
    ...{ destination: '10.9.0.0/16', gateway: '10.1.0.2', link: 'va', table: 1000, protocol: 'static' },
    ...{ scope: 'site', metric: 9, tos: 16, preferredSource: '10.1.0.1', flags: ['onlink'] },
    metrics: { ...METRICS, locked: ['mtu', 'rtt'] },
  },
  'one by a gateway of IPv6': { destination: '10.9.0.0/16', gateway: 'fd01::2', link: 'va' },
  'one of several ways': {
    destination: '10.9.0.0/16',
    nextHops: [
      { gateway: '10.1.0.2', weight: 3 },
      { gateway: '10.1.0.3', link: 'va', flags: ['onlink'] },
    ],
  },
  'one with realms': { destination: '10.9.0.0/16', link: 'va', realms: 0x10007 },
  'one of several ways with realms': {
    destination: '10.9.0.0/16',
    nextHops: [{ gateway: '10.1.0.2', realms: 5 }, { gateway: '10.1.0.3' }],
  },
  'one that drops': { destination: '10.9.0.0/16', type: 'blackhole', metric: 3 },
  'one that answers unreachable': { destination: '10.9.0.0/16', type: 'unreachable' },
  'one that answers prohibited': { destination: '10.9.0.0/16', type: 'prohibit' },
  'one that ends a table': { destination: '10.9.0.0/16', type: 'throw', table: 100 },
  'a local one': { destination: '10.9.0.0/16', type: 'local', link: 'va' },
  'one to everyone': { destination: '10.9.0.255', type: 'broadcast', link: 'va' },
  'one of multicasts': { destination: '239.0.0.0/8', type: 'multicast', link: 'va' },
  'a route of IPv6 by a gateway': { destination: 'fd09::/64', gateway: 'fd01::2' },
  'one of IPv6 by a link': { destination: 'fd09::/64', link: 'va' },
  'one of all addresses of IPv6': { destination: 'default', gateway: 'fd01::2' },
  'one of IPv6 with every field': {
    ...{
      destination: 'fd09::/64',
      gateway: 'fd01::2',
      link: 'va',
      table: 1000,
      protocol: 'static',
      metric: 9,
    },
    ...{ preferredSource: 'fd01::1', preference: 'high', flags: ['onlink'] },
    metrics: { mtu: 1400, hopLimit: 9, locked: ['mtu'] },
  },
  'one of IPv6 that ends with time': { destination: 'fd09::/64', gateway: 'fd01::2', expires: 5000 },
  'one of IPv6 for some sources': { destination: 'fd09::/64', source: 'fd03::/64', gateway: 'fd01::2' },
  'one of IPv6 of several ways': {
    destination: 'fd09::/64',
    nextHops: [{ gateway: 'fd01::2', weight: 3 }, { gateway: 'fd01::3' }],
  },
  'one of IPv6 that drops': { destination: 'fd09::/64', type: 'blackhole' },
  'one of IPv6 that answers unreachable': { destination: 'fd09::/64', type: 'unreachable' },
  'one of IPv6 that answers prohibited': { destination: 'fd09::/64', type: 'prohibit' },
  'one of IPv6 that ends a table': { destination: 'fd09::/64', type: 'throw', table: 100 },
  'a local one of IPv6': { destination: 'fd09::/64', type: 'local', link: 'va' },
  'one of IPv4-mapped addresses': { destination: '::ffff:10.9.0.0/112', gateway: 'fd01::2' },
};

export const RULES: Readonly<Record<string, NewRule>> = {
  'a rule with every field': {
    ...{ priority: 100, from: '10.0.0.0/8', to: '10.1.0.0/16', invert: true, tos: 16 },
    ...{ mark: { value: 3, mask: 255 }, inputLink: 'va', outputLink: 'nowhere', ipProtocol: 6 },
    ...{ sourcePorts: { first: 1, last: 2 }, destinationPorts: { first: 80, last: 90 } },
    ...{ uids: { first: 5, last: 6 }, table: 1000, suppressPrefixLength: 3, suppressGroup: 4 },
    protocol: 'static',
  },
  'one with a source port, of which newer kernels list a mask': {
    ...{ priority: 100, ipProtocol: 6, sourcePorts: { first: 80, last: 80 }, table: 100 },
  },
  'one with a destination port': {
    ...{ priority: 100, ipProtocol: 17, destinationPorts: { first: 53, last: 53 }, table: 100 },
  },
  'one of a tunnel': { priority: 100, tunnelId: 1n << 40n, table: 100 },
  'one of a tunnel of IPv6': { family: 6, priority: 100, tunnelId: 5n, table: 100 },
  'one with realms': { priority: 100, from: '10.0.0.0/8', realms: 0x10007, table: 100 },
  'one for the priority 0': { priority: 0, table: 100 },
  'one that looks up': { priority: 100, from: '10.0.0.1/32', table: 'main' },
  'one with a mark': { priority: 100, mark: { value: 7 }, table: 100 },
  'one with a mask alone': { priority: 100, mark: { value: 0, mask: 8 }, table: 100 },
  'one with a mask of no bits': { priority: 100, mark: { value: 7, mask: 0 }, table: 100 },
  'one that goes on': { priority: 100, goto: 32766 },
  'one that goes to none': { priority: 100, action: 'goto', goto: 32765 },
  'one that does nothing': { priority: 100, action: 'nop' },
  'one that drops': { priority: 100, action: 'blackhole' },
  'one that answers unreachable': { priority: 100, action: 'unreachable', from: '10.0.0.0/8' },
  'one that answers prohibited': { priority: 100, action: 'prohibit' },
  'one for the table of a VRF': { priority: 100, l3mdev: true },
  'a rule of IPv6': { priority: 100, from: 'fd00::/8', to: 'fd01::/16', table: 1000 },
  'one of IPv6 that drops': { family: 6, priority: 100, action: 'blackhole' },
  'one of IPv6 with a destination port': {
    ...{ family: 6, priority: 100, ipProtocol: 6, destinationPorts: { first: 80, last: 80 }, table: 100 },
  },
  'one of IPv6 with a mark': { family: 6, priority: 100, mark: { value: 3, mask: 255 }, table: 100 },
  'one of IPv4-mapped addresses': { priority: 100, from: '::ffff:10.0.0.0/104', table: 100 },
};

const hardwareAddress = '02:00:00:00:00:09';

export const NEIGHBOURS: Readonly<Record<string, NewNeighbour>> = {
  'a neighbour of IPv4': { ...va, address: '10.1.0.9', hardwareAddress },
  'one that is stale, with its origin': {
    ...{ ...va, address: '10.1.0.9', hardwareAddress, state: 'stale', protocol: 'static' },
    flags: ['extern_learn'],
  },
  'one without ARP': { ...va, address: '10.1.0.9', hardwareAddress, state: 'noarp' },
  'a proxy of IPv4': { ...va, address: '10.1.0.9', proxy: true },
  'a neighbour of IPv6': { ...va, address: 'fd01::9', hardwareAddress, flags: ['router'] },
  'a proxy of IPv6': { ...va, address: 'fd01::9', proxy: true },
  'an IPv4-mapped one': { ...va, address: '::ffff:10.1.0.9', hardwareAddress },
};

/** Groups have the nexthops 1 and 2. */
export const NEXT_HOPS: Readonly<Record<string, NewNextHopObject>> = {
  'a way of IPv4 by a gateway': { id: 7, link: 'va', gateway: '10.1.0.2', protocol: 'static' },
  'one by a gateway that is told to be there': {
    ...{ id: 7, link: 'va', gateway: '10.77.0.2', flags: ['onlink'] },
  },
  'one by a link': { id: 7, link: 'va' },
  'one of IPv6 by a gateway': { id: 7, link: 'va', gateway: 'fd01::2' },
  'one of IPv6 by a link': { id: 7, link: 'va', family: 6 },
  'one that drops': { id: 7, blackhole: true },
  'one of IPv6 that drops': { id: 7, blackhole: true, family: 6 },
  'the other end of a VXLAN': { id: 7, fdb: true, gateway: '10.1.0.9' },
  'a group': { id: 7, group: [{ id: 1 }, { id: 2, weight: 255 }], protocol: 'bird' },
  'a resilient group': {
    ...{ id: 7, group: [{ id: 1, weight: 3 }, { id: 2 }] },
    resilient: { buckets: 8, idleTimer: 60, unbalancedTimer: 300 },
  },
  'the largest id': { id: 0xffff_ffff, link: 'va' },
};

export const LINKS: readonly Extract<RtnetlinkOperation, { readonly do: 'addLink' }>[] = [
  { do: 'addLink', name: 'l0', kind: 'dummy' },
  { do: 'addLink', name: 'l0', kind: 'bridge', settings: { bridge: { stp: true } } },
  { do: 'addLink', name: 'l0', kind: 'vlan', settings: { link: 'va', vlan: { id: 5 } } },
  { do: 'addLink', name: 'l0', kind: 'veth', settings: { peer: { name: 'l1' } } },
  {
    do: 'addLink',
    name: 'l0',
    kind: 'bond',
    settings: { bond: { mode: 'active-backup', miiInterval: 100 } },
  },
  { do: 'addLink', name: 'l0', kind: 'bond', settings: { bond: { mode: '802.3ad', lacpRate: 'fast' } } },
  { do: 'addLink', name: 'l0', kind: 'bond', settings: { bond: { mode: 'balance-tlb' } } },
  {
    do: 'addLink',
    name: 'l0',
    kind: 'vxlan',
    settings: { vxlan: { id: 5, remote: '10.1.0.2', link: 'va' } },
  },
  { do: 'addLink', name: 'l0', kind: 'vxlan', settings: { vxlan: { external: true } } },
  { do: 'addLink', name: 'l0', kind: 'macvlan', settings: { link: 'va', macvlan: { mode: 'private' } } },
  { do: 'addLink', name: 'l0', kind: 'macvtap', settings: { link: 'va' } },
  { do: 'addLink', name: 'l0', kind: 'ipvlan', settings: { link: 'va', ipvlan: { mode: 'l3s' } } },
  { do: 'addLink', name: 'l0', kind: 'ipvtap', settings: { link: 'va' } },
  { do: 'addLink', name: 'l0', kind: 'vrf', settings: { vrf: { table: 77 } } },
  { do: 'addLink', name: 'l0', kind: 'ifb' },
  { do: 'addLink', name: 'l0', kind: 'geneve', settings: { geneve: { id: 5, remote: '10.1.0.2' } } },
  {
    do: 'addLink',
    name: 'l0',
    kind: 'geneve',
    settings: { geneve: { id: 5, remote: 'fd01::2', ttl: 'inherit' } },
  },
  { do: 'addLink', name: 'l0', kind: 'geneve', settings: { geneve: { external: true } } },
  {
    do: 'addLink',
    name: 'l0',
    kind: 'gre',
    settings: { gre: { remote: '10.1.0.2', inputKey: 5, link: 'va' } },
  },
  { do: 'addLink', name: 'l0', kind: 'gre', settings: { gre: { external: true } } },
  { do: 'addLink', name: 'l0', kind: 'gretap', settings: { gretap: { external: true } } },
  {
    do: 'addLink',
    name: 'l0',
    kind: 'gretap',
    settings: { gretap: { remote: '10.1.0.2', pathMtuDiscovery: false, ignoreDontFragment: true } },
  },
  { do: 'addLink', name: 'l0', kind: 'ip6gre', settings: { ip6gre: { remote: 'fd01::2', outputKey: 0 } } },
  { do: 'addLink', name: 'l0', kind: 'ip6gretap', settings: { ip6gretap: { flags: ['copyDscp'] } } },
  {
    do: 'addLink',
    name: 'l0',
    kind: 'ip6tnl',
    settings: { ip6tnl: { remote: 'fd01::2', local: 'fd01::1' } },
  },
  { do: 'addLink', name: 'l0', kind: 'ip6tnl', settings: { ip6tnl: { external: true } } },
  { do: 'addLink', name: 'l0', kind: 'ipip', settings: { ipip: { remote: '10.1.0.2', protocol: 0 } } },
  { do: 'addLink', name: 'l0', kind: 'ipip', settings: { ipip: { external: true } } },
  { do: 'addLink', name: 'l0', kind: 'sit', settings: { sit: { remote: '10.1.0.2', mark: 7 } } },
  { do: 'addLink', name: 'l0', kind: 'wireguard' },
  { do: 'addLink', name: 'l0', kind: 'netkit', settings: { netkit: {}, peer: { name: 'l1' } } },
  {
    do: 'addLink',
    name: 'l0',
    kind: 'netkit',
    settings: { netkit: { mode: 'l2', policy: 'drop', peerScrub: 'none' }, peer: { name: 'l1' } },
  },
];

/** Kinds that not every kernel of the tests has. */
export const RARE_KINDS: ReadonlySet<string> = new Set(['netkit', 'wireguard']);
