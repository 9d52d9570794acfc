// Valid calls of the functions of each export.
import type * as conntrack from '../../../../src/kernel/conntrack/index.js';
import type * as ipset from '../../../../src/kernel/ipset/index.js';
import type * as ipvs from '../../../../src/kernel/ipvs/index.js';
import type * as netlink from '../../../../src/kernel/netlink/index.js';
import type * as nftables from '../../../../src/kernel/nftables/index.js';
import * as text from '../../../../src/kernel/nftables/text/index.js';
import type * as rtnetlink from '../../../../src/kernel/rtnetlink/index.js';
import { FakeNftables } from '../../../../src/kernel/testing/index.js';
import type { Subpath } from '../subpaths.js';
import { CALL } from './row.js';
import { LINKS, RULESETS } from './rulesets.js';

type FunctionRows<Module> = {
  readonly [Name in keyof Module as Module[Name] extends (...args: never) => unknown
    ? Name
    : never]: Module[Name] extends (...args: infer Args) => unknown ? readonly Readonly<Args>[] : never;
};

const OPEN = { ...CALL, netns: '/run/netns/blue', timeout: 5 };
const RESULTS = [[[undefined, undefined]]] as const;

const SERVICE: ipvs.VirtualService = {
  ...{ address: '10.0.0.1', port: 80, protocol: 'udp', scheduler: 'sh', schedulerFlags: ['sh-port'] },
  ...{ onePacket: true, persistence: { timeout: 300, netmask: 24 }, persistenceEngine: 'sip' },
};
const {
  address: _,
  port: __,
  protocol: ___,
  ...SETTINGS
} = SERVICE as ipvs.AddressId & ipvs.VirtualServiceSettings;
const MARKED: ipvs.VirtualService = { ...SETTINGS, firewallMark: 1, family: 4 };
const SERVER: ipvs.RealServer = {
  ...{ address: '10.1.0.1', port: 8080, weight: 2, forwarding: 'tunnel' },
  ...{ upperThreshold: 10, lowerThreshold: 5 },
};
const SERVERS: readonly ipvs.RealServer[] = [
  { ...SERVER, encapsulation: { type: 'gue', port: 6080, checksum: 'full' } },
  { ...SERVER, encapsulation: { type: 'gre', checksum: 'full' } },
];

const EXTENSIONS = { timeout: 5, packets: 1n, bytes: 2n, comment: 'c', skbMark: 1, skbMask: 255 };
const SETS: readonly ipset.SavedSet[] = [
  {
    set: {
      ...{ name: 'a', type: 'hash:net,net', family: 4, hashSize: 64, maxElements: 100, bucketSize: 12 },
      ...{
        initval: 1,
        netmask: 24,
        timeout: 60,
        counters: true,
        comment: true,
        skbInfo: true,
        forceAdd: true,
      },
    },
    entries: [
      {
        ...{ address: '10.0.0.0', prefix: 8, address2: '10.1.0.0', prefix2: 16, noMatch: true },
        ...{ ...EXTENSIONS, skbPrio: 1, skbQueue: 1 },
      },
      { address: '10.0.0.0', lastAddress: '10.0.0.7', address2: '10.1.0.0', lastAddress2: '10.1.0.7' },
    ],
  },
  { set: { name: 'b', type: 'hash:ip', family: 4, bitmask: '255.255.0.0' }, entries: [] },
  {
    set: { name: 'c', type: 'hash:ip,mark', family: 4, markMask: 255 },
    entries: [{ address: '10.0.0.1', mark: 1 }],
  },
  { set: { name: 'd', type: 'list:set', size: 8 }, entries: [{ set: 'a', before: 'b' }] },
  { set: { name: 'd', type: 'list:set' }, entries: [{ set: 'a', after: 'b' }] },
  { set: { name: 'e', type: 'bitmap:port', range: [1, 1000] }, entries: [{ port: 1, lastPort: 2 }] },
  { set: { name: 'f', type: 'bitmap:ip', range: ['10.0.0.0', '10.0.0.255'] }, entries: [] },
  { set: { name: 'g', type: 'hash:mac' }, entries: [{ mac: '02:00:00:00:00:01' }] },
  {
    set: { name: 'h', type: 'hash:net,iface', family: 4 },
    entries: [{ address: '10.0.0.0', prefix: 8, interface: 'lo', physdev: true, wildcard: true }],
  },
  {
    set: { name: 'i', type: 'hash:ip,port', family: 4 },
    entries: [
      { address: '10.0.0.0', protocol: 'tcp', port: 80 },
      { address: '10.0.0.0', protocol: 1, icmp: { type: 8, code: 0 } },
    ],
  },
];
const PARSING: ipset.ParseOptions = { sets: [{ name: 'b', type: 'hash:ip', family: 4 }], strict: true };
const FACTS = { revision: 1, references: 0, extended: true } as const;
const HEADERS = SETS.map(({ set }) => ({ ...set, ...FACTS }) as ipset.SetHeader);

const TUPLE = { source: '10.0.0.1', destination: '10.0.0.2', sourcePort: 1, destinationPort: 2 };
const FLOW: conntrack.Flow = {
  ...{ family: 4, protocol: 'tcp', original: TUPLE, reply: TUPLE, zone: 0, replyZone: 0, id: 1, mark: 1 },
  ...{ status: ['SEEN_REPLY'], timeout: 5, use: 1, tcpState: 'ESTABLISHED', labels: [1], helper: 'ftp' },
  master: { protocol: 'tcp', original: TUPLE },
};
const { tcpState: ____, ...PLAIN } = FLOW;
const NO_PORTS = { ...TUPLE, sourcePort: 0, destinationPort: 0 };
const ECHO = { ...NO_PORTS, icmp: { type: 8, code: 0, id: 1 } };
/** Flows which together have every field. */
export const FLOWS: readonly conntrack.Flow[] = [
  FLOW,
  {
    ...PLAIN,
    protocol: 'sctp',
    sctp: { state: 'ESTABLISHED', originalTag: 1, replyTag: 2 },
  } as conntrack.Flow,
  {
    ...PLAIN,
    protocol: 1,
    reply: ECHO,
    original: ECHO,
    master: { protocol: 1, original: ECHO },
  } as conntrack.Flow,
];
const MESSAGE = { payload: Uint8Array.of(1, 0, 0, 0) };

const ADDRESS_NAMES = [
  { link: 'eth0', address: '10.0.0.1', prefix: 24, peer: '10.0.0.2' },
  { link: 3, address: 'fd00::1', prefix: 64 },
];
const ROUTE_NAME: rtnetlink.RouteName = {
  ...{ destination: 'fd00::/64', family: 6, type: 'unicast', table: 'main', metric: 5, tos: 0 },
  ...{ source: 'fd01::/64', gateway: 'fd02::1' },
};

/** Valid calls of the functions of each export. */
export const FUNCTIONS = {
  ipvs: {
    openIpvs: [[OPEN], [{ netns: 1 }]],
    formatRules: [[[{ ...SERVICE, realServers: SERVERS }]], [[MARKED]]],
    formatRulesAsync: [[[{ ...SERVICE, realServers: SERVERS }]], [[MARKED]]],
    parseRules: [['-A -t 10.0.0.1:80', { portNumber: () => 80 }]],
    parseRulesAsync: [['-A -t 10.0.0.1:80', { ...CALL, portNumber: () => 80 }]],
    throwOnFailure: RESULTS,
  } satisfies FunctionRows<typeof ipvs>,
  ipset: {
    openIpset: [[OPEN]],
    definitionOf: HEADERS.map((set) => [set] as const),
    formatEntry: SETS.flatMap(({ entries }) => [...entries].map((entry) => [entry] as const)),
    formatSets: SETS.map((saved) => [[{ ...saved, entries: [...saved.entries] }]] as const),
    formatSetsAsync: SETS.map((saved) => [[{ ...saved, entries: [...saved.entries] }]] as const),
    parseSets: [['create a hash:ip', PARSING]],
    parseSetsAsync: [['create a hash:ip', { ...CALL, ...PARSING }]],
    throwOnFailure: RESULTS,
  } satisfies FunctionRows<typeof ipset>,
  rtnetlink: {
    openRtnetlink: [[OPEN]],
    addNamespace: [['blue']],
    deleteNamespace: [['blue']],
    listNamespaces: [[]],
    watchRtnetlink: [[{ ...OPEN, gather: 1, keepAlive: false, receiveBuffer: 65_536 }, () => {}]],
    sameAddress: ADDRESS_NAMES.flatMap((name) => ADDRESS_NAMES.map((other) => [name, other] as const)),
    sameRoute: [[ROUTE_NAME, ROUTE_NAME]],
    throwOnFailure: RESULTS,
  } satisfies FunctionRows<typeof rtnetlink>,
  conntrack: {
    openConntrack: [[OPEN]],
    natOf: [[{ status: ['SRC_NAT', 'DST_NAT'], reply: TUPLE }]],
    newFlowOf: FLOWS.map((flow) => [flow] as const),
    throwOnFailure: RESULTS,
  } satisfies FunctionRows<typeof conntrack>,
  netlink: {
    openNetlink: [[{ ...OPEN, strictChecking: false, protocol: 'generic' }]],
    genericCommand: [[MESSAGE]],
    genericHeader: [[1, 2]],
    netfilterHeader: [[2, 1]],
    familyHeader: [[2]],
    linkHeader: [[{ family: 7, type: 1, index: 2, flags: 1, change: 1 }]],
    trafficControlHeader: [[{ family: 2, index: 2, handle: 1, parent: 1, info: 1 }]],
    readFamily: [[MESSAGE, 'netlink.read']],
    throwOnFailure: RESULTS,
  } satisfies FunctionRows<typeof netlink>,
  nftables: {
    openNftables: [[OPEN]],
    bytesOf: [
      [
        ['ipv4_addr', 'inet_service'],
        ['10.0.0.1', 80],
      ],
      ['ipv4_addr', '10.0.0.1'],
      ['ipv4_addr', Uint8Array.of(10, 0, 0, 1)],
    ],
    throwOnFailure: RESULTS,
  } satisfies FunctionRows<typeof nftables>,
  'nftables/text': {
    expressionsOf: [['inet', [text.match.tcp.dport(80), 'counter', { kind: 'notrack' }]]],
    formatRuleset: RULESETS.map((ruleset) => [ruleset] as const),
    formatRulesetAsync: RULESETS.map((ruleset) => [ruleset] as const),
    parseRuleset: [['table ip t {\n}\n', { links: LINKS }]],
    parseRulesetAsync: [['table ip t {\n}\n', { ...CALL, links: LINKS }]],
    readRuleset: [[new FakeNftables(), { family: 'ip', table: 't' }, CALL]],
  } satisfies FunctionRows<typeof text>,
} as const satisfies Record<Subpath | 'nftables/text', object>;
