// The names that nft has for values (`nft describe`), as it lists them.
import type { ValueType } from './types.js';

type Symbols = Readonly<Record<string, number>>;

/** Protocols by their names in /etc/protocols of Debian. */
const PROTOCOLS: Symbols = {
  ip: 0,
  icmp: 1,
  igmp: 2,
  ipencap: 4,
  tcp: 6,
  udp: 17,
  dccp: 33,
  ipv6: 41,
  rsvp: 46,
  gre: 47,
  esp: 50,
  ah: 51,
  'ipv6-icmp': 58,
  ospf: 89,
  ipcomp: 108,
  vrrp: 112,
  sctp: 132,
  udplite: 136,
};

const ICMP_TYPES: Symbols = {
  'echo-reply': 0,
  'destination-unreachable': 3,
  'source-quench': 4,
  redirect: 5,
  'echo-request': 8,
  'router-advertisement': 9,
  'router-solicitation': 10,
  'time-exceeded': 11,
  'parameter-problem': 12,
  'timestamp-request': 13,
  'timestamp-reply': 14,
  'info-request': 15,
  'info-reply': 16,
  'address-mask-request': 17,
  'address-mask-reply': 18,
};

const ICMPV6_TYPES: Symbols = {
  'destination-unreachable': 1,
  'packet-too-big': 2,
  'time-exceeded': 3,
  'parameter-problem': 4,
  'echo-request': 128,
  'echo-reply': 129,
  'mld-listener-query': 130,
  'mld-listener-report': 131,
  'mld-listener-done': 132,
  'mld-listener-reduction': 132,
  'nd-router-solicit': 133,
  'nd-router-advert': 134,
  'nd-neighbor-solicit': 135,
  'nd-neighbor-advert': 136,
  'nd-redirect': 137,
  'router-renumbering': 138,
  'ind-neighbor-solicit': 141,
  'ind-neighbor-advert': 142,
  'mld2-listener-report': 143,
};

/** The symbols of each type that has some. */
export const SYMBOLS: Readonly<Partial<Record<ValueType, Symbols>>> = {
  nf_proto: { ipv4: 2, ipv6: 10 },
  ether_type: { ip: 0x800, arp: 0x806, ip6: 0x86dd, '8021q': 0x8100, '8021ad': 0x88a8, vlan: 0x8100 },
  inet_proto: { ...PROTOCOLS, icmpv6: 58, comp: 108 },
  icmp_type: ICMP_TYPES,
  icmpv6_type: ICMPV6_TYPES,
  icmp_code: {
    'net-unreachable': 0,
    'host-unreachable': 1,
    'prot-unreachable': 2,
    'port-unreachable': 3,
    'frag-needed': 4,
    'net-prohibited': 9,
    'host-prohibited': 10,
    'admin-prohibited': 13,
  },
  icmpv6_code: {
    'no-route': 0,
    'admin-prohibited': 1,
    'addr-unreachable': 3,
    'port-unreachable': 4,
    'policy-fail': 5,
    'reject-route': 6,
  },
  tcp_flag: { fin: 1, syn: 2, rst: 4, psh: 8, ack: 16, urg: 32, ecn: 64, cwr: 128 },
  ct_state: { invalid: 1, established: 2, related: 4, new: 8, untracked: 64 },
  ct_dir: { original: 0, reply: 1 },
  ct_status: {
    expected: 1,
    'seen-reply': 2,
    assured: 4,
    confirmed: 8,
    snat: 16,
    dnat: 32,
    dying: 512,
  },
  pkt_type: { host: 0, unicast: 0, broadcast: 1, multicast: 2, other: 3 },
  devgroup: { default: 0 },
  fib_addrtype: {
    unspec: 0,
    unicast: 1,
    local: 2,
    broadcast: 3,
    anycast: 4,
    multicast: 5,
    blackhole: 6,
    unreachable: 7,
    prohibit: 8,
  },
  boolean: { exists: 1, missing: 0 },
  dscp: {
    ...{ cs0: 0, cs1: 8, cs2: 0x10, cs3: 0x18, cs4: 0x20, cs5: 0x28, cs6: 0x30, cs7: 0x38, df: 0, be: 0 },
    ...{ lephb: 1, af11: 10, af12: 12, af13: 14, af21: 18, af22: 20, af23: 22, af31: 26, af32: 28, af33: 30 },
    ...{ af41: 34, af42: 36, af43: 38, va: 44, ef: 46 },
  },
  day: { Sunday: 0, Monday: 1, Tuesday: 2, Wednesday: 3, Thursday: 4, Friday: 5, Saturday: 6 },
  ecn: { 'not-ect': 0, ect1: 1, ect0: 2, ce: 3 },
  arp_op: { request: 1, reply: 2, rrequest: 3, rreply: 4, inrequest: 8, inreply: 9, nak: 10 },
  igmp_type: {
    ...{ 'membership-query': 17, 'membership-report-v1': 18, 'membership-report-v2': 22 },
    ...{ 'membership-report-v3': 34, 'leave-group': 23 },
  },
  dccp_pkttype: {
    ...{ request: 0, response: 1, data: 2, ack: 3, dataack: 4, closereq: 5, close: 6, reset: 7, sync: 8 },
    syncack: 9,
  },
  mh_type: {
    ...{ 'binding-refresh-request': 0, 'home-test-init': 1, 'careof-test-init': 2, 'home-test': 3 },
    ...{ 'careof-test': 4, 'binding-update': 5, 'binding-acknowledgement': 6, 'binding-error': 7 },
    ...{ 'fast-binding-update': 8, 'fast-binding-acknowledgement': 9, 'fast-binding-advertisement': 10 },
    ...{ 'experimental-mobility-header': 11, 'home-agent-switch-message': 12 },
  },
  iface_type: { ether: 1, ppp: 0x200, ipip: 0x300, ipip6: 0x301, loopback: 0x304, sit: 0x308, ipgre: 0x30a },
  ct_event: {
    ...{ new: 1, related: 2, destroy: 4, reply: 8, assured: 16, protoinfo: 32, helper: 64, mark: 128 },
    ...{ seqadj: 256, secmark: 512, label: 1024 },
  },
};

const NAMES: Readonly<Partial<Record<ValueType, ReadonlyMap<number, string>>>> = Object.fromEntries(
  // Of two names of a number, the first one is listed.
  Object.entries(SYMBOLS).map(([type, symbols]) => [
    type,
    new Map(
      Object.entries(symbols)
        .map(([name, number]) => [number, name] as const)
        .reverse(),
    ),
  ]),
);

/** The number of a symbol. */
export function numberOfSymbol(type: ValueType, symbol: string): number | undefined {
  const symbols = SYMBOLS[type];
  return symbols && Object.hasOwn(symbols, symbol) ? symbols[symbol] : undefined;
}

/** The symbol of a number. */
export function symbolOfNumber(type: ValueType, number: number): string | undefined {
  return NAMES[type]?.get(number);
}
