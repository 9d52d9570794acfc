// Messages of rtnetlink of every kind: captured ones, and ones that the library writes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeAddress, readAddress } from '../../../../src/kernel/rtnetlink/addresses/codec.js';
import { encodeBridgeVlan, readBridgeVlans } from '../../../../src/kernel/rtnetlink/bridgeVlans/codec.js';
import {
  encodeForwardingEntry,
  readForwardingEntry,
} from '../../../../src/kernel/rtnetlink/forwarding/codec.js';
import { indexOf, readLink, readName } from '../../../../src/kernel/rtnetlink/links/read.js';
import {
  encodeLinkStatistics,
  readLinkStatistics,
} from '../../../../src/kernel/rtnetlink/links/statistics.js';
import { encodeNewLink, encodeSettings } from '../../../../src/kernel/rtnetlink/links/write.js';
import type { Message } from '../../../../src/kernel/rtnetlink/message.js';
import { encodeNamespaceId, readNamespaceId } from '../../../../src/kernel/rtnetlink/namespaces/codec.js';
import { encodeNeighbour, readNeighbour } from '../../../../src/kernel/rtnetlink/neighbours/codec.js';
import { encodeNextHop, readNextHop } from '../../../../src/kernel/rtnetlink/nexthops/codec.js';
import { readRoute } from '../../../../src/kernel/rtnetlink/routes/read.js';
import { encodeRoute } from '../../../../src/kernel/rtnetlink/routes/write.js';
import { encodeRule, readRule } from '../../../../src/kernel/rtnetlink/rules/codec.js';
import type {
  NewLinkAddress,
  NewNeighbour,
  NewNextHopObject,
  NewRoute,
  NewRule,
} from '../../../../src/kernel/rtnetlink/types.js';
import { ROOT } from '../../paths.js';
import { listed, NAMES } from './messages.js';

/** Bytes that were captured, by the name of their file. */
export const capture = (name: string) =>
  new Uint8Array(readFileSync(join(ROOT, `test/native/captures/route-${name}`)));
/** The links that were captured. */
export const LINKS = capture('links.reply');
/** Names of links by index, as those captures have them; and those of messages that the library writes. */
export const CAPTURED_NAMES = new Map([
  [0, 'va'],
  [1, 'lo'],
  [3, 'knp0'],
  [4, 'kube-ipvs0'],
]);
/** An address of IPv4 with every field. */
export const ADDRESS: NewLinkAddress = {
  ...{ link: 'va', address: '10.0.0.1', prefix: 24, peer: '10.0.0.2', broadcast: '10.0.0.255' },
  ...{ scope: 'link', flags: ['home', 'noprefixroute'], label: 'va:1', metric: 300, protocol: 200 },
  ...{ validLifetime: 120, preferredLifetime: 60 },
};
/** An address of IPv6. */
export const ADDRESS6: NewLinkAddress = {
  ...{ link: 'va', address: '::ffff:10.0.0.1', prefix: 128, flags: ['nodad'], protocol: 'kernel_ra' },
};
/** A route of IPv4, by a nexthop of IPv6. */
export const ROUTE: NewRoute = {
  destination: '10.9.0.0/16',
  table: 1000,
  protocol: 'static',
  scope: 'site',
  metric: 9,
  preferredSource: '10.1.0.1',
  flags: ['onlink', 'pervasive'],
  tos: 16,
  gateway: 'fd01::2',
  realms: 0x1_0007,
  metrics: { mtu: 1400, locked: ['mtu'], congestionControl: 'reno' },
};
/** A route of IPv6 with two nexthops. */
export const ROUTE6: NewRoute = {
  destination: 'fd09::/64',
  source: 'fd03::/64',
  preference: 'high',
  nextHops: [
    { gateway: 'fd01::2', weight: 3 },
    { gateway: 'fd01::3', flags: ['onlink'] },
  ],
};
/** A rule of policy routing. */
export const RULE: NewRule = {
  priority: 777,
  from: '10.0.0.0/8',
  to: '10.1.0.0/16',
  invert: true,
  mark: { value: 3, mask: 255 },
  inputLink: 'va',
  uids: { first: 5, last: 6 },
  sourcePorts: { first: 80, last: 80 },
  sourcePortMask: 0xfff0,
  destinationPorts: { first: 80, last: 80 },
  destinationPortMask: 0xff,
  dscp: 10,
  dscpMask: 0x3e,
  flowLabel: 5,
  flowLabelMask: 0xff,
  tunnelId: 0x0102_0304_0506_0708n,
  realms: 0x1_0002,
  suppressPrefixLength: 3,
  table: 1000,
};
/** A neighbour. */
export const NEIGHBOUR: NewNeighbour = {
  link: 'va',
  address: 'fd01::9',
  hardwareAddress: '02:00:00:00:00:09',
  state: 'stale',
  flags: ['router', 'managed'],
  protocol: 'static',
};

/** Nexthop objects, each of which is read as it is written. */
export const NEXT_HOPS: Readonly<Record<string, NewNextHopObject>> = {
  'a nexthop': {
    ...{ id: 0xffff_ffff, protocol: 'static', link: 'va', gateway: '10.0.0.2', family: 4, flags: ['onlink'] },
  },
  'a nexthop of IPv6': { id: 7, link: 'va', gateway: 'fd00::2', family: 6, protocol: 'bird', flags: [] },
  'a blackhole': { id: 7, blackhole: true, family: 6, protocol: 'unspec', flags: [] },
  'a nexthop of an FDB': { id: 7, fdb: true, gateway: '10.0.0.2', family: 4, protocol: 'unspec', flags: [] },
  'a group of nexthops': {
    ...{ id: 7, protocol: 'unspec', flags: [], fdb: true },
    group: [
      { id: 1, weight: 65_535 },
      { id: 0xffff_fffe, weight: 1 },
    ],
    resilient: { buckets: 65_535, idleTimer: 1.5, unbalancedTimer: 0 },
  },
};
const TUNNEL = {
  ...{ link: 'va', ttl: 9, mark: 7, encapsulationSourcePort: 5, encapsulationDestinationPort: 6 },
  encapsulation: 'gue',
  encapsulationFlags: ['checksum6'],
} as const;
const TUNNEL4 = { ...TUNNEL, remote: '10.0.0.2', local: '10.0.0.1', tos: 4, pathMtuDiscovery: true } as const;
const TUNNEL6 = {
  ...{ ...TUNNEL, remote: 'fd00::2', local: 'fd00::1', encapsulationLimit: 3, flowInfo: 0x1234567 },
  flags: ['copyDscp', 'allowLocalRemote'],
} as const;
const GRE_HEADER = {
  ...{ outputKey: 0xffff_ffff, inputSequence: false, outputSequence: true, inputChecksum: true },
  outputChecksum: false,
} as const;
const GRE = { ...TUNNEL4, ...GRE_HEADER, ignoreDontFragment: true } as const;

/** Links with every setting of their kind: each is read as it is written. Link 0 is va. */
export const KINDS: Readonly<Record<string, Parameters<typeof encodeNewLink>>> = {
  'a bond': [
    'b',
    'bond',
    {
      bond: {
        ...{ mode: 'active-backup', activePort: 'va', miiInterval: 1, upDelay: 2, downDelay: 3 },
        ...{
          useCarrier: false,
          arpInterval: 4,
          arpTargets: ['10.0.0.1', '10.0.0.2'],
          arpValidation: 'filter',
        },
        ...{ arpAllTargets: 'all', arpMissedMax: 5, nsTargets: ['fd00::1'], primary: 'va' },
        ...{ primaryReselection: 'failure', failOverMac: 'follow', hashPolicy: 'vlan+srcmac' },
        ...{ resendIgmp: 6, peerNotifications: 7, peerNotificationDelay: 8, allPortsActive: true },
        ...{ minLinks: 9, learnPacketInterval: 10, packetsPerPort: 11, lacpRate: 'fast', lacpActive: false },
        ...{ aggregatorSelection: 'count', actorSystemPriority: 12, actorSystem: '02:00:00:00:00:0d' },
        ...{ userPortKey: 13, dynamicLoadBalancing: false, coupledControl: false, broadcastNeighbour: true },
        lacpStrict: true,
      },
    },
  ],
  'a VXLAN over IPv4': [
    'x',
    'vxlan',
    {
      vxlan: {
        ...{ id: 0x123456, remote: '10.0.0.2', local: '10.0.0.1', link: 'va', port: 4789 },
        ...{ sourcePorts: { first: 1000, last: 2000 }, ttl: 9, tos: 4, dontFragment: 'inherit' },
        ...{ learning: false, ageingTime: 60, addressLimit: 5, proxy: true, routeShortCircuit: true },
        ...{ l2Miss: true, l3Miss: true, udpChecksum: false, remoteChecksumTx: true, remoteChecksumRx: true },
        ...{ remoteChecksumNoPartial: true, groupPolicy: true, localBypass: false, multicastRouting: true },
        reservedBits: 0x0102_0304_0506_0708n,
      },
    },
  ],
  'a VXLAN over IPv6': [
    'x',
    'vxlan',
    {
      vxlan: {
        ...{ external: true, vniFilter: true, remote: 'fd00::2', local: 'fd00::1', ttl: 'inherit' },
        ...{ flowLabel: 0x12345, flowLabelPolicy: 'inherit', genericProtocol: true },
        ...{ udp6ZeroChecksumTx: true, udp6ZeroChecksumRx: true },
      },
    },
  ],
  'a macvlan': [
    'm',
    'macvlan',
    {
      link: 'va',
      macvlan: {
        ...{ mode: 'source', flags: ['nopromisc', 'nodst'], broadcastQueueLength: 5, broadcastCutoff: -1 },
        sources: ['02:00:00:00:00:01', '02:00:00:00:00:02'],
      },
    },
  ],
  'a macvtap': ['m', 'macvtap', { link: 'va', macvtap: { mode: 32, flags: [], sources: [] } }],
  'an ipvlan': ['i', 'ipvlan', { link: 'va', ipvlan: { mode: 'l3s', flags: ['private'] } }],
  'an ipvtap': ['i', 'ipvtap', { link: 'va', ipvtap: { mode: 'l2', flags: ['vepa'] } }],
  'a VRF': ['r', 'vrf', { vrf: { table: 'main' } }],
  'a tunnel of Geneve over IPv4': [
    'g',
    'geneve',
    {
      geneve: {
        ...{
          id: 0x123456,
          remote: '10.0.0.2',
          local: '10.0.0.1',
          port: 6082,
          sourcePorts: { first: 1000, last: 2000 },
        },
        ...{ ttl: 'inherit', tos: 4, dontFragment: 'set', udpChecksum: true, innerProtocolInherit: true },
        groHint: true,
      },
    },
  ],
  'a tunnel of Geneve over IPv6': [
    'g',
    'geneve',
    {
      geneve: {
        ...{ external: true, remote: 'fd00::2', local: 'fd00::1', ttl: 9, flowLabel: 0x12345 },
        ...{ udp6ZeroChecksumTx: true, udp6ZeroChecksumRx: false },
      },
    },
  ],
  'a tunnel of GRE': ['g', 'gre', { gre: GRE }],
  'a tunnel of GRE with Ethernet': [
    'g',
    'gretap',
    { gretap: { ...TUNNEL4, ...GRE_HEADER, external: true, pathMtuDiscovery: false } },
  ],
  'a tunnel of GRE over IPv6': ['g', 'ip6gre', { ip6gre: { ...TUNNEL6, ...GRE_HEADER, inputKey: 0 } }],
  'a tunnel of GRE with Ethernet over IPv6': ['g', 'ip6gretap', { ip6gretap: { ...TUNNEL6, ...GRE_HEADER } }],
  'a tunnel in IPv6': ['t', 'ip6tnl', { ip6tnl: { ...TUNNEL6, external: true, protocol: 41 } }],
  'a tunnel in IPv4': ['t', 'ipip', { ipip: { ...TUNNEL4, external: true, protocol: 137 } }],
  'a tunnel of IPv6 in IPv4': [
    't',
    'sit',
    {
      sit: {
        ...{ ...TUNNEL4, protocol: 41, flags: 1, rapidPrefix: '2001:db8::', rapidPrefixLength: 32 },
        ...{ rapidRelayPrefix: '10.0.0.0', rapidRelayPrefixLength: 8 },
      },
    },
  ],
  'a netkit': [
    'n',
    'netkit',
    {
      netkit: {
        ...{ mode: 'l2', policy: 'drop', peerPolicy: 'pass', scrub: 'none', peerScrub: 'default' },
        ...{ headroom: 16, tailroom: 8, pairing: 'single' },
      },
    },
  ],
};
/** The link of a message. */
export const readNamed = (message: Message) => readLink(message, CAPTURED_NAMES);
/** A message about the counters of lo, of a kernel that has so many of them. */
export function statistics(count: number): Uint8Array {
  const writer = encodeLinkStatistics(1);
  return listed(
    writer.attribute(1, () => {
      for (let i = 1; i <= count; i++) writer.u64(2n ** 53n + BigInt(i));
    }),
  );
}

/** Messages of each kind with their readers. */
export const SAMPLES: Readonly<
  Record<string, readonly [bytes: Uint8Array, read: (message: Message) => unknown]>
> = {
  'captured links': [LINKS, (message) => [indexOf(message), readName(message), readLink(message, NAMES)]],
  'a bridge': [
    listed(encodeNewLink('br', 'bridge', { bridge: { forwardDelay: 5, noLinkLocalLearning: true } })),
    (message) => readLink(message, NAMES),
  ],
  'a VLAN': [
    listed(encodeNewLink('v', 'vlan', { link: 'va', vlan: { id: 5, gvrp: true, egressQosMap: [[1, 2]] } })),
    (message) => readLink(message, NAMES),
  ],
  ...Object.fromEntries(
    Object.entries(KINDS).map(([title, link]) => [
      title,
      [listed(encodeNewLink(...link)), readNamed] as const,
    ]),
  ),
  'a port of a bond': [listed(encodeSettings('va', { bondPort: { queueId: 3, priority: -2 } })), readNamed],
  ...Object.fromEntries(
    Object.entries(NEXT_HOPS).map(([title, object]) => [
      title,
      [
        listed(encodeNextHop('add', object)),
        (message: Message) => readNextHop(message, CAPTURED_NAMES),
      ] as const,
    ]),
  ),
  'VLANs of a port': [
    listed(encodeBridgeVlan('add', { link: 'va', vlan: 5, lastVlan: 6, untagged: true, self: true })),
    (message) => [...readBridgeVlans(message, CAPTURED_NAMES)],
  ],
  'an entry of a VXLAN': [
    listed(
      encodeForwardingEntry('add', {
        ...{
          link: 'va',
          hardwareAddress: '02:00:00:00:00:01',
          destination: '192.0.2.7',
          port: 4790,
          vni: 43,
        },
        ...{ outputLink: 'va', sourceVni: 44, vlan: 5, flags: ['sticky', 'locked'] },
      }),
    ),
    (message) => readForwardingEntry(message, CAPTURED_NAMES),
  ],
  counters: [statistics(25), (message) => readLinkStatistics(message, NAMES)],
  'captured addresses': [capture('addresses4.reply'), (message) => readAddress(message, CAPTURED_NAMES)],
  'an address of IPv4': [
    listed(encodeAddress('add', ADDRESS)),
    (message) => readAddress(message, CAPTURED_NAMES),
  ],
  'an address of IPv6': [
    listed(encodeAddress('add', ADDRESS6)),
    (message) => readAddress(message, CAPTURED_NAMES),
  ],
  'a route of IPv4': [listed(encodeRoute('add', ROUTE)), (message) => readRoute(message, NAMES)],
  'a route of IPv6': [listed(encodeRoute('add', ROUTE6)), (message) => readRoute(message, NAMES)],
  'a rule': [listed(encodeRule('add', RULE)), (message) => readRule(message, NAMES)],
  'a neighbour': [listed(encodeNeighbour('add', NEIGHBOUR)), (message) => readNeighbour(message, NAMES)],
  'captured ids of network namespaces': [capture('namespace-ids.reply'), readNamespaceId],
  'an id of a network namespace': [listed(encodeNamespaceId({ netns: 4711, id: 7 })), readNamespaceId],
};
