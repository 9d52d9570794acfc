// What the statements of a rule say of the packet. From it, both directions derive the conditions that nft does not print: the reader adds
// those that a field needs, and the printer leaves out only what the reader would add again.
import type { Element, Expression, NewElement, TableFamily } from '../types.js';
import { numberOfSymbol, symbolOfNumber } from '../values/symbols.js';
import { numberIn } from './values.js';

/** A protocol of the network layer whose fields have names. */
export type Network = 'ip' | 'ip6' | 'arp';

/** What is known of the packet. */
export interface Known {
  /** The protocol of the network layer, or that it is one of several. */
  readonly network: Network | 'several' | undefined;
  /** The number of the protocol of the transport layer, or that it is one of several. */
  readonly transport: number | 'several' | undefined;
  /** Whether it has a header of Ethernet. */
  readonly link: true | undefined;
  /** Whether it has the tag of a virtual LAN behind that. */
  readonly vlan: boolean | undefined;
  /** The types of which a message of ICMP has one. */
  readonly message: readonly number[] | undefined;
}

/** What a packet must be for a field. */
export type Need =
  | { readonly layer: 'link' | 'vlan' }
  | { readonly layer: 'network'; readonly network: Network }
  | { readonly layer: 'transport'; readonly protocol: number }
  | { readonly layer: 'message'; readonly header: MessageHeader; readonly types: readonly number[] };

/** A header whose fields depend on the type of the message. */
export type MessageHeader = 'icmp' | 'icmpv6';

/** Of a packet, nothing is known. */
export const NOTHING: Known = {
  ...{ network: undefined, transport: undefined, link: undefined, vlan: undefined, message: undefined },
};

/** What is known of all packets of a family. */
export function knownOf(family: TableFamily): Known {
  const network = family === 'ip' || family === 'ip6' || family === 'arp' ? family : undefined;
  return { ...NOTHING, network, link: family === 'bridge' || undefined };
}

/** Whether it is known that the packet is so; false if it is known that it is not. */
export function isMet(need: Need, known: Known): boolean | undefined {
  if (need.layer === 'message') return known.message?.every((type) => need.types.includes(type));
  const found = known[need.layer];
  if (found === undefined) return undefined;
  if (need.layer === 'network') return found === need.network;
  return need.layer === 'transport' ? found === need.protocol : found === true;
}

/** `ARPHRD_ETHER`, 16 bits in the machine's byte order. */
const ETHERNET = new Uint8Array(Uint16Array.of(1).buffer);
/** What a comparison with a protocol of the network layer has: `NFPROTO_`, `ETH_P_`. */
const PROTOCOLS = {
  ip: { nfproto: Uint8Array.of(2), protocol: Uint8Array.of(0x08, 0x00) },
  ip6: { nfproto: Uint8Array.of(10), protocol: Uint8Array.of(0x86, 0xdd) },
  arp: { nfproto: undefined, protocol: Uint8Array.of(0x08, 0x06) },
} as const;
/** The types of frames with a tag (`ETH_P_8021Q`, `ETH_P_8021AD`): the first is that of a condition. */
const TAGGED: readonly number[] = [0x8100, 0x88a8];
/** The place of the type of what is behind the header of Ethernet, and of that behind a tag. */
const TYPE_AT = { ether: 12, vlan: 16 } as const;
/** The values of the types of messages. */
const MESSAGE_TYPES = { icmp: 'icmp_type', icmpv6: 'icmpv6_type' } as const;

/** The comparison of the type of a frame. */
function ofType(header: keyof typeof TYPE_AT, data: Uint8Array): Expression[] {
  return [
    { kind: 'payload', base: 'link', offset: TYPE_AT[header], length: 2, register: 1 },
    { kind: 'cmp', operator: 'eq', source: 1, data },
  ];
}

/** The expressions of the condition that a packet is so; undefined if those of the family are never so. */
export function conditionOf(
  need: Need,
  family: TableFamily,
  known: Known,
): readonly Expression[] | undefined {
  if (need.layer === 'message') {
    const { header, types } = need;
    const load = { kind: 'payload', base: 'transport', offset: 0, length: 1, register: 1 } as const;
    if (types.length === 1)
      return [load, { kind: 'cmp', operator: 'eq', source: 1, data: Uint8Array.from(types) }];
    const key = MESSAGE_TYPES[header];
    // As a listing has them: by name.
    const elements = types.map((number) => ({ key: symbolOfNumber(key, number) ?? number }));
    return [load, { kind: 'lookup', set: { key, elements }, source: 1 }];
  }
  const equal = (key: 'iiftype' | 'l4proto' | 'nfproto' | 'protocol', data: Uint8Array): Expression[] => [
    { kind: 'meta', key, register: 1 },
    { kind: 'cmp', operator: 'eq', source: 1, data },
  ];
  if (need.layer === 'link') return equal('iiftype', ETHERNET);
  if (need.layer === 'transport') return equal('l4proto', Uint8Array.of(need.protocol));
  if (need.layer !== 'network') return ofType('ether', Uint8Array.of(0x81, 0x00));
  if (known.vlan) return ofType('vlan', PROTOCOLS[need.network].protocol);
  if (family === 'bridge' && need.network === 'arp') return ofType('ether', PROTOCOLS.arp.protocol);
  const key = family === 'bridge' || family === 'netdev' ? 'protocol' : 'nfproto';
  const protocol = PROTOCOLS[need.network][key];
  return protocol && equal(key, protocol);
}

/** The protocol of IP that is known. */
export function ipOf({ network }: Known): 'ip' | 'ip6' | undefined {
  return network === 'ip' || network === 'ip6' ? network : undefined;
}

/** The values that say which protocol the transport layer has. */
export const PROTOCOL_KEYS: ReadonlySet<string> = new Set(['meta l4proto', 'ip protocol', 'ip6 nexthdr']);

/** What a comparison of a value, by its text, with bytes says of the packet. */
export function learned(known: Known, family: TableFamily, text: string, data: Uint8Array): Known {
  switch (text) {
    case 'meta l4proto':
    case 'ip protocol':
    case 'ip6 nexthdr':
      return { ...known, transport: data[0] };
    case 'meta iiftype':
      return data.length === 2 && data.every((byte, i) => byte === ETHERNET[i])
        ? { ...known, link: true }
        : known;
    case 'icmp type':
    case 'icmpv6 type':
      return { ...known, message: [...data] };
    default: {
      const isTagged = text === 'ether type' && TAGGED.includes(Number(numberIn(data)));
      if (isTagged) return { ...known, vlan: true };
      // Behind a second tag, all fields have other places.
      if (text === 'vlan type' && TAGGED.includes(Number(numberIn(data)))) return { ...known, vlan: false };
      const network = knownOf(family).network ? undefined : networkOf(text, data);
      const more = text === 'ether type' ? { ...known, vlan: false } : known;
      return network ? { ...more, network } : more;
    }
  }
}

/** What it says that a set of the rule has a value. */
export function learnedOfSet(known: Known, text: string, elements: readonly (Element | NewElement)[]): Known {
  if (PROTOCOL_KEYS.has(text)) return { ...known, transport: 'several' };
  if (text === 'meta nfproto') return { ...known, network: 'several' };
  const header = text === 'icmp type' ? 'icmp' : text === 'icmpv6 type' ? 'icmpv6' : undefined;
  if (!header) return known;
  const numbers = elements.map(({ key, keyEnd }) =>
    keyEnd !== undefined
      ? undefined
      : typeof key === 'string'
        ? numberOfSymbol(MESSAGE_TYPES[header], key)
        : key,
  );
  return numbers.every((number) => typeof number === 'number') ? { ...known, message: numbers } : known;
}

/** The protocol of the network layer that a comparison demands. */
function networkOf(text: string, data: Uint8Array): Known['network'] {
  if (text === 'meta nfproto') return data[0] === 2 ? 'ip' : data[0] === 10 ? 'ip6' : undefined;
  if (text !== 'meta protocol' && text !== 'ether type' && text !== 'vlan type') return undefined;
  const number = Number(numberIn(data));
  return number === 0x800 ? 'ip' : number === 0x86dd ? 'ip6' : number === 0x806 ? 'arp' : undefined;
}

/** The layer of which a comparison is the condition that {@link conditionOf} has; undefined if it is another one. */
export function layerOf(text: string, data: Uint8Array, family: TableFamily): Need['layer'] | undefined {
  if (text === 'meta l4proto') return 'transport';
  if (text === 'meta iiftype') return data.every((byte, i) => byte === ETHERNET[i]) ? 'link' : undefined;
  const isArp = networkOf(text, data) === 'arp';
  if (text === 'ether type' && !(family === 'bridge' && isArp))
    return Number(numberIn(data)) === TAGGED[0] ? 'vlan' : undefined;
  if (text === 'vlan type') return networkOf(text, data) ? 'network' : undefined;
  if (family === 'bridge' && isArp) return text === 'ether type' ? 'network' : undefined;
  const isLinkFamily = family === 'bridge' || family === 'netdev';
  return text === (isLinkFamily ? 'meta protocol' : 'meta nfproto') && networkOf(text, data)
    ? 'network'
    : undefined;
}
