// Names of IP protocols and of ICMP messages, as `ipset save` prints them and `ipset help hash:ip,port` lists them.
import { PROTOCOL_NUMBERS, protocolOfNumber } from '../net/protocol.js';
import type { IcmpType, SetEntry } from './types.js';

/** The protocols of /etc/protocols (IANA) beside those of Services: ipset prints the first name of a number. */
const PROTOCOLS: Readonly<Record<string, number>> = {
  ...PROTOCOL_NUMBERS,
  ...{ icmp: 1, igmp: 2, ggp: 3, ipencap: 4, st: 5, egp: 8, igp: 9, pup: 12, hmp: 20, 'xns-idp': 22 },
  ...{ rdp: 27, 'iso-tp4': 29, dccp: 33, xtp: 36, ddp: 37, 'idpr-cmtp': 38, ipv6: 41, 'ipv6-route': 43 },
  ...{ 'ipv6-frag': 44, idrp: 45, rsvp: 46, gre: 47, esp: 50, ah: 51, skip: 57, 'ipv6-icmp': 58 },
  ...{ 'ipv6-nonxt': 59, 'ipv6-opts': 60, rspf: 73, vmtp: 81, eigrp: 88, ospf: 89, 'ax.25': 93, ipip: 94 },
  ...{ etherip: 97, encap: 98, pim: 103, ipcomp: 108, vrrp: 112, l2tp: 115, isis: 124, fc: 133 },
  ...{ 'mobility-header': 135, udplite: 136, 'mpls-in-ip': 137, manet: 138, hip: 139, shim6: 140 },
  ...{ wesp: 141, rohc: 142, ethernet: 143, icmpv6: 58 },
};
const PROTOCOL_NAMES: ReadonlyMap<number, string> = namesOf(Object.entries(PROTOCOLS));

/** Messages by name: type and code. */
type Messages = Readonly<Record<string, readonly [type: number, code: number]>>;

const ICMP: Messages = {
  'echo-reply': [0, 0],
  pong: [0, 0],
  'network-unreachable': [3, 0],
  'host-unreachable': [3, 1],
  'protocol-unreachable': [3, 2],
  'port-unreachable': [3, 3],
  'fragmentation-needed': [3, 4],
  'source-route-failed': [3, 5],
  'network-unknown': [3, 6],
  'host-unknown': [3, 7],
  'network-prohibited': [3, 9],
  'host-prohibited': [3, 10],
  'TOS-network-unreachable': [3, 11],
  'TOS-host-unreachable': [3, 12],
  'communication-prohibited': [3, 13],
  'host-precedence-violation': [3, 14],
  'precedence-cutoff': [3, 15],
  'source-quench': [4, 0],
  'network-redirect': [5, 0],
  'host-redirect': [5, 1],
  'TOS-network-redirect': [5, 2],
  'TOS-host-redirect': [5, 3],
  'echo-request': [8, 0],
  ping: [8, 0],
  'router-advertisement': [9, 0],
  'router-solicitation': [10, 0],
  'ttl-zero-during-transit': [11, 0],
  'ttl-zero-during-reassembly': [11, 1],
  'ip-header-bad': [12, 0],
  'required-option-missing': [12, 1],
  'timestamp-request': [13, 0],
  'timestamp-reply': [14, 0],
  'address-mask-request': [17, 0],
  'address-mask-reply': [18, 0],
};

// The two names without an h are the tool's.
const ICMPV6: Messages = {
  'no-route': [1, 0],
  'communication-prohibited': [1, 1],
  'address-unreachable': [1, 3],
  'port-unreachable': [1, 4],
  'packet-too-big': [2, 0],
  'ttl-zero-during-transit': [3, 0],
  'ttl-zero-during-reassembly': [3, 1],
  'bad-header': [4, 0],
  'unknown-header-type': [4, 1],
  'unknown-option': [4, 2],
  'echo-request': [128, 0],
  ping: [128, 0],
  'echo-reply': [129, 0],
  pong: [129, 0],
  'router-solicitation': [133, 0],
  'router-advertisement': [134, 0],
  'neighbour-solicitation': [135, 0],
  'neigbour-solicitation': [135, 0],
  'neighbour-advertisement': [136, 0],
  'neigbour-advertisement': [136, 0],
  redirect: [137, 0],
};
const ICMP_PROTOCOL = 1;
const ICMPV6_PROTOCOL = 58;

/** The number of a protocol by its name or by its decimal digits; undefined for neither. */
export function protocolNumber(text: string): number | undefined {
  const name = text.toLowerCase();
  if (Object.hasOwn(PROTOCOLS, name)) return PROTOCOLS[name];
  return /^\d{1,3}$/.test(text) ? Number(text) : undefined;
}

/** An ICMP message by its name, or as `type/code`; undefined for neither. */
export function icmpMessage(text: string, protocol: number): IcmpType | undefined {
  const messages = protocol === ICMP_PROTOCOL ? ICMP : ICMPV6;
  const numbers = /^(\d{1,3})\/(\d{1,3})$/.exec(text);
  const [type, code] = numbers
    ? [Number(numbers[1]), Number(numbers[2])]
    : Object.hasOwn(messages, text)
      ? (messages[text] ?? [])
      : [];
  return type === undefined || code === undefined ? undefined : { type, code };
}

/** Protocol and port, as `ipset save` prints them: `udp:53`, `icmp:echo-request`, `gre:0`. */
export function namedProtocol({ protocol = 0, port, icmp }: SetEntry): string {
  const number = typeof protocol === 'number' ? protocol : PROTOCOL_NUMBERS[protocol];
  const name = protocolOfNumber(number) ?? PROTOCOL_NAMES.get(number) ?? number;
  return `${name}:${icmp ? messageName(icmp, number) : (port ?? 0)}`;
}

function messageName({ type, code }: IcmpType, protocol: number): string {
  const messages = protocol === ICMPV6_PROTOCOL ? ICMPV6 : ICMP;
  const found = Object.entries(messages).find(([, numbers]) => numbers[0] === type && numbers[1] === code);
  return found?.[0] ?? `${type}/${code}`;
}

/** The first name of each number. */
function namesOf(entries: readonly (readonly [string, number])[]): Map<number, string> {
  const names = new Map<number, string>();
  for (const [name, number] of entries) if (!names.has(number)) names.set(number, name);
  return names;
}
