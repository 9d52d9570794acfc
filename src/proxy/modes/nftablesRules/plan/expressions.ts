// Rules as the expressions that the kernel runs. They are those that nft 1.0.6 writes for the text in the comments, so that a rule of
// kube-proxy equals ours.

import type { Family } from '../../../../kernel/net/address.js';
import { type Network, parseNetwork } from '../../../../kernel/net/network.js';
import type { Protocol } from '../../../../kernel/net/protocol.js';
import type { Expression, Register } from '../../../../kernel/nftables/expressions/types.js';
import { containsAll, type LocalMatch } from '../../shared/plan/localDetector.js';

/** A rule. */
export interface Rule {
  readonly expressions: readonly Expression[];
  readonly comment?: string;
}

/** A part of a rule: expressions that follow each other. */
export type Part = readonly Expression[];

/** A rule of these parts. */
export function rule(parts: readonly Part[], comment?: string): Rule {
  return { expressions: parts.flat(), ...(comment !== undefined && { comment }) };
}

/** A number in the byte order of this machine, in which the kernel has marks and bits of conntrack. */
function hostOrder(value: number): Uint8Array {
  return new Uint8Array(Uint32Array.of(value).buffer);
}

const ZERO = hostOrder(0);

/** The place of the addresses in the header of IPv4 and IPv6, and the register behind an address in register 1. */
const HEADER = {
  4: { saddr: 12, daddr: 16, length: 4, behind: 9 },
  6: { saddr: 8, daddr: 24, length: 16, behind: 2 },
} as const;

/** Loads an address, or its first bytes. */
export function loadAddress(
  family: Family,
  field: 'saddr' | 'daddr',
  register: Register = 1,
  bytes?: number,
): Expression {
  const header = HEADER[family];
  return {
    kind: 'payload',
    base: 'network',
    offset: header[field],
    length: bytes ?? header.length,
    register,
  };
}

/** Loads the protocol and the port of the destination. */
export function protocolAndPort(protocol: Register, port: Register): Expression[] {
  return [
    { kind: 'meta', key: 'l4proto', register: protocol },
    { kind: 'payload', base: 'transport', offset: 2, length: 2, register: port },
  ];
}

/** `ip saddr @set`: the address is an element of a set. */
export function addressIn(family: Family, field: 'saddr' | 'daddr', set: string): Part {
  return [loadAddress(family, field), { kind: 'lookup', set, source: 1 }];
}

/** `ip saddr 10.244.0.0/16`: the address is in the network or, with `not`, outside. The length of the network is not 0. */
export function addressInNetwork(
  family: Family,
  field: 'saddr' | 'daddr',
  network: Network,
  not = false,
): Part {
  const { bytes, prefix } = network;
  const operator = not ? 'neq' : 'eq';
  const load = (length?: number) => loadAddress(family, field, 1, length);
  const compared = (data: Uint8Array): Expression => ({ kind: 'cmp', operator, source: 1, data });
  const length = prefix / 8;
  if (prefix % 8 === 0) return [load(length), compared(bytes.slice(0, length))];
  return [load(), bits(maskOf(bytes.length, prefix), new Uint8Array(bytes.length)), compared(bytes)];
}

/** The mask of a network. */
function maskOf(length: number, prefix: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => 0xff00 >> Math.min(8, Math.max(0, prefix - 8 * i)));
}

/** (register 1 & mask) ^ xor. */
function bits(mask: Uint8Array, xor: Uint8Array): Expression {
  return { kind: 'bitwise', source: 1, register: 1, mask, xor };
}

/**
 * Local traffic of a family, or with `not` all other traffic. If all traffic is local, it has no condition: kube-proxy writes a rule
 * that nft refuses.
 */
export function localTraffic(family: Family, local: LocalMatch, not = false): Part {
  if ('interface' in local) return inputInterface(local.interface, not);
  const network = parseNetwork(local.network);
  if (!network || containsAll(local)) return [];
  return addressInNetwork(family, 'saddr', network, not);
}

/** Length of an interface's name with its end (`IFNAMSIZ`), in bytes. */
const NAME_LENGTH = 16;

/** `iifname "cni0"`, `iifname "veth*"`. @param match in iptables' notation: `veth+` stands for all names that begin so */
export function inputInterface(match: string, not: boolean): Part {
  const isPrefix = match.endsWith('+');
  const name = Buffer.from(isPrefix ? match.slice(0, -1) : match);
  const data = new Uint8Array(isPrefix ? name.length : NAME_LENGTH);
  data.set(name.subarray(0, data.length));
  return [
    { kind: 'meta', key: 'iifname', register: 1 },
    { kind: 'cmp', operator: not ? 'neq' : 'eq', source: 1, data },
  ];
}

/** `ip daddr . meta l4proto . th dport vmap @map`: the verdict of a map for the destination. */
export function verdictOfDestination(family: Family, map: string): Part {
  return destinationIn(family, map, 0);
}

/**
 * `ip daddr . meta l4proto . th dport @set`: the destination is an element of a set.
 *
 * @param register of a map, gets the data; 0: the verdict
 * @param field the address; default that of the destination
 */
export function destinationIn(
  family: Family,
  set: string,
  register?: Register,
  field: 'saddr' | 'daddr' = 'daddr',
): Part {
  return [
    ...dialled(family, field),
    { kind: 'lookup', set, source: 1, ...(register !== undefined && { register }) },
  ];
}

/** Loads an address, the protocol and the port of the destination. */
function dialled(family: Family, field: 'saddr' | 'daddr'): Expression[] {
  return [loadAddress(family, field), ...protocolAndPort(HEADER[family].behind, family === 4 ? 10 : 13)];
}

/** `ip daddr . meta l4proto . th dport . ip saddr @set` */
export function destinationAndSourceIn(family: Family, set: string): Part {
  return [
    ...dialled(family, 'daddr'),
    loadAddress(family, 'saddr', family === 4 ? 11 : 14),
    { kind: 'lookup', set, source: 1 },
  ];
}

/** `th dport @set`: the port of the destination is an element of a set. */
export function portIn(set: string): Part {
  return [
    { kind: 'payload', base: 'transport', offset: 2, length: 2, register: 1 },
    { kind: 'lookup', set, source: 1 },
  ];
}

/** `meta l4proto . th dport vmap @map`: the verdict of a map for the port. */
export function verdictOfPort(map: string): Part {
  return [...protocolAndPort(1, 9), { kind: 'lookup', set: map, source: 1, register: 0 }];
}

/** Translates the destination to the address in register 1, and to the port behind it. */
export function toLoaded(family: Family): Expression {
  return {
    kind: 'nat',
    type: 'dnat',
    family: family === 4 ? 'ip' : 'ip6',
    address: 1,
    port: HEADER[family].behind,
  };
}

/** `dnat to ip daddr`: the destination stays. No later chain of type nat translates it. */
export function keepDestination(family: Family): Part {
  return [
    loadAddress(family, 'daddr'),
    { kind: 'nat', type: 'dnat', family: family === 4 ? 'ip' : 'ip6', address: 1 },
  ];
}

/** A connection with these addresses, protocol and port is an element of a set. */
export function connectionIn(family: Family, set: string): Part {
  const [second, third, fourth] = family === 4 ? [9, 10, 11] : [2, 3, 17];
  return [
    loadAddress(family, 'saddr'),
    loadAddress(family, 'daddr', second as Register),
    ...protocolAndPort(third as Register, fourth as Register),
    { kind: 'lookup', set, source: 1 },
  ];
}

/** `update @set { ip saddr }`: the source becomes an element of a set, with a new lifetime. */
export function remember(family: Family, set: string): Part {
  return [loadAddress(family, 'saddr'), { kind: 'dynset', operation: 'update', set, source: 1 }];
}

/** A bit of conntrack is set: `IP_CT_NEW` as a state, `IPS_DST_NAT` as a status. */
function conntrackBit(key: 'state' | 'status', bit: number): Part {
  return [
    { kind: 'ct', key, register: 1 },
    bits(hostOrder(bit), ZERO),
    { kind: 'cmp', operator: 'neq', source: 1, data: ZERO },
  ];
}

/** `ct state new`: the packet begins a connection. */
export const NEW_CONNECTION = conntrackBit('state', 1 << 3);

/** `ct state established,related`: the packet belongs to a connection, or to one that is about another. */
export const CONTINUED_CONNECTION = conntrackBit('state', (1 << 1) | (1 << 2));

/** `ct status dnat`: the destination of the connection was translated. */
export const TRANSLATED = conntrackBit('status', 1 << 5);

/** `ct state != established return`: the packet begins a connection, is about another one, or is invalid. */
export const UNLESS_ESTABLISHED: Part = [
  { kind: 'ct', key: 'state', register: 1 },
  bits(hostOrder(1 << 1), ZERO),
  { kind: 'cmp', operator: 'eq', source: 1, data: ZERO },
  { kind: 'verdict', verdict: { verdict: 'return' } },
];

/** `IPS_ASSURED`, `IPS_DST_NAT` */
const ASSURED_AND_TRANSLATED = hostOrder((1 << 2) | (1 << 5));

/** `ct status & (assured | dnat) != assured | dnat return`: the destination was not translated, or the connection may be a single exchange. */
export const UNLESS_ASSURED_AND_TRANSLATED: Part = [
  { kind: 'ct', key: 'status', register: 1 },
  bits(ASSURED_AND_TRANSLATED, ZERO),
  { kind: 'cmp', operator: 'neq', source: 1, data: ASSURED_AND_TRANSLATED },
  { kind: 'verdict', verdict: { verdict: 'return' } },
];

/** Loads the destination that the first packet of the connection had: `ct original ip daddr`, with a register for the next part of a key. */
function dialledAtFirst(family: Family): Expression[] {
  const key = family === 4 ? 'dst_ip' : 'dst_ip6';
  return [{ kind: 'ct', key, direction: 'original', register: 1 }];
}

function portAtFirst(protocol: Register, port: Register): Expression[] {
  return [
    { kind: 'meta', key: 'l4proto', register: protocol },
    { kind: 'ct', key: 'proto-dst', direction: 'original', register: port },
  ];
}

/** `ct original ip daddr @set`: the first packet of the connection went to an address in a set. */
export function firstAddressIn(family: Family, set: string): Part {
  return [...dialledAtFirst(family), { kind: 'lookup', set, source: 1 }];
}

/** `ct original ip daddr . meta l4proto . ct original proto-dst @set`: it went to an address and port in a set. */
export function firstDestinationIn(family: Family, set: string): Part {
  return [
    ...dialledAtFirst(family),
    ...portAtFirst(HEADER[family].behind, family === 4 ? 10 : 13),
    { kind: 'lookup', set, source: 1 },
  ];
}

/** `meta l4proto . ct original proto-dst @set`: it went to a port in a set. */
export function firstPortIn(set: string): Part {
  return [...portAtFirst(1, 9), { kind: 'lookup', set, source: 1 }];
}

/** `flow add @flowtable`: the flow of the packet becomes one of the flow table. */
export function toFlowTable(table: string): Part {
  return [{ kind: 'flowOffload', table }];
}

const LOAD_MARK: Expression = { kind: 'meta', key: 'mark', register: 1 };
const STORE_MARK: Expression = { kind: 'metaSet', key: 'mark', source: 1 };

/** `meta mark & MARK != 0x00000000`: the packet has the mark. */
export function hasMark(mark: number): Part {
  return [LOAD_MARK, bits(hostOrder(mark), ZERO), { kind: 'cmp', operator: 'neq', source: 1, data: ZERO }];
}

/** `meta mark set meta mark | MARK`. Other bits stay. */
export function setMark(mark: number): Part {
  return [LOAD_MARK, bits(hostOrder(~mark), hostOrder(mark)), STORE_MARK];
}

/** `meta mark set meta mark ^ MARK` */
export function invertMark(mark: number): Part {
  return [LOAD_MARK, bits(hostOrder(~0), hostOrder(mark)), STORE_MARK];
}

/** `masquerade fully-random`: replaces the source by an address of the output interface, with a random port. */
export const MASQUERADE: Part = [{ kind: 'masq', flags: ['fully-random'] }];

/** `RTN_LOCAL` */
const LOCAL = hostOrder(2);

/** `fib daddr type local`: the source or the destination is an address of this host or, with `not`, of none. */
export function isOfHost(field: 'saddr' | 'daddr', not = false): Part {
  return [
    { kind: 'fib', result: 'type', flags: [field], register: 1 },
    { kind: 'cmp', operator: not ? 'neq' : 'eq', source: 1, data: LOCAL },
  ];
}

/** `reject`: ICMP port unreachable. */
export function reject(family: Family): Part {
  return [{ kind: 'reject', type: 'icmp', code: family === 4 ? 3 : 4 }];
}

/** `reject with tcp reset` */
export const RESET: Part = [{ kind: 'reject', type: 'tcp reset' }];

/** `counter name "NAME"`: counts the packet with a counter of the table. */
export function counted(counter: string): Part {
  return [{ kind: 'objref', type: 'counter', name: counter }];
}

/** The packet passes: later chains at the hook see it. */
export const ACCEPT: Part = [{ kind: 'verdict', verdict: { verdict: 'accept' } }];

/** Continues behind the rule that led here. */
export const RETURN: Part = [{ kind: 'verdict', verdict: { verdict: 'return' } }];

/** Drops the packet silently. */
export const DROP: Part = [{ kind: 'verdict', verdict: { verdict: 'drop' } }];

/** Continues in another chain: `jump` comes back, `goto` does not. */
export function to(verdict: 'jump' | 'goto', chain: string): Part {
  return [{ kind: 'verdict', verdict: { verdict, chain } }];
}

/** Numbers of the protocols (`IPPROTO_`). */
export const PROTOCOL_NUMBER: Readonly<Record<Protocol, number>> = { tcp: 6, udp: 17, sctp: 132 };

/** `meta l4proto tcp` */
export function hasProtocol(protocol: Protocol): Part {
  return [
    { kind: 'meta', key: 'l4proto', register: 1 },
    { kind: 'cmp', operator: 'eq', source: 1, data: Uint8Array.of(PROTOCOL_NUMBER[protocol]) },
  ];
}
