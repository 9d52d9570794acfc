// The rules of the kernel's set types, for the fake: definitions and entries as the kernel keeps them, with its errors.
// Source: net/netfilter/ipset/ip_set_*.c.

import { portFieldOf, SHAPES } from '../ipset/shapes.js';
import type { SetDefinition, SetEntry, SetType } from '../ipset/types.js';
import { type Family, formatAddress, parseAddressAsIs } from '../net/address.js';
import { formatNetwork, parseNetworkAsIs } from '../net/network.js';
import { PROTOCOL_NUMBERS, protocolOfNumber } from '../net/protocol.js';

/** Numbers of ipset's own: include/uapi/linux/netfilter/ipset/ip_set.h, ip_set_hash.h, ip_set_bitmap.h, ip_set_list.h. */
export const ERR = {
  busy: 4100,
  existSetName2: 4101,
  typeMismatch: 4102,
  exist: 4103,
  timeout: 4107,
  referenced: 4108,
  counter: 4111,
  comment: 4112,
  skbInfo: 4114,
  hashFull: 4352,
  hashElement: 4353,
  bitmapRange: 4352,
  bitmapRangeSize: 4353,
  listName: 4352,
  listLoop: 4353,
  listNameRef: 4355,
  listRefExist: 4357,
} as const;

const SMALLEST_HASH = 64;
const LARGEST_BITMAP = 65536;
const LARGEST_BUCKET = 12;
const SMALLEST_LIST = 4;

/** Sets of types with the same features can be swapped. */
const FEATURES: Readonly<Record<SetType, string>> = {
  'bitmap:ip': 'ip',
  'bitmap:ip,mac': 'ip mac',
  'bitmap:port': 'port',
  'hash:ip': 'ip',
  'hash:mac': 'mac',
  'hash:ip,mac': 'ip mac',
  'hash:net': 'ip nomatch',
  'hash:net,net': 'ip ip2 nomatch',
  'hash:ip,port': 'ip port',
  'hash:net,port': 'ip port nomatch',
  'hash:ip,port,ip': 'ip port ip2',
  'hash:ip,port,net': 'ip port ip2 nomatch',
  'hash:ip,mark': 'ip mark',
  'hash:net,port,net': 'ip port ip2 nomatch',
  'hash:net,iface': 'ip iface nomatch',
  'list:set': 'name',
};

/** Whether the kernel swaps two sets. */
export function areSwappable(a: SetDefinition, b: SetDefinition): boolean {
  return FEATURES[a.type] === FEATURES[b.type] && a.family === b.family;
}

/** Whether a set that is created is the same as one that exists; the sizes of hashes may differ. */
export function areSame(a: SetDefinition, b: SetDefinition): boolean {
  const values = (set: SetDefinition) => [
    ...[set.type, set.family, set.maxElements, set.timeout, `${set.range}`, set.netmask, set.bitmask],
    ...[set.markMask, set.size, set.counters, set.comment, set.skbInfo],
  ];
  const second = values(b);
  return values(a).every((value, i) => value === second[i]);
}

/** A valid definition as the kernel keeps it, or the number of its error. */
export function asKept(set: SetDefinition): SetDefinition | number {
  const flags = {
    ...(set.timeout !== undefined && { timeout: set.timeout }),
    ...(set.counters && { counters: true }),
    ...(set.comment && { comment: true }),
    ...(set.skbInfo && { skbInfo: true }),
  };
  const { name, type, family } = set;
  if (type === 'list:set') return { name, type, size: Math.max(SMALLEST_LIST, set.size ?? 8), ...flags };
  if (type === 'bitmap:port') return { name, type, range: set.range ?? [0, 65535], ...flags };
  if (!type.startsWith('hash:')) return bitmapOf(set, flags);
  const hashSize = Math.max(SMALLEST_HASH, 2 ** Math.ceil(Math.log2(set.hashSize ?? 1024)));
  const full = family === 6 ? 128 : 32;
  return {
    ...{ name, type, hashSize, maxElements: set.maxElements ?? 65536 },
    ...(family !== undefined && { family }),
    ...(set.netmask !== undefined && set.netmask !== full && { netmask: set.netmask }),
    ...(set.bitmask !== undefined && { bitmask: canonical(set.bitmask) }),
    ...(type === 'hash:ip,mark' && { markMask: set.markMask ?? 0xffff_ffff }),
    ...(set.forceAdd && { forceAdd: true }),
    ...flags,
    bucketSize: bucketSizeOf(set.bucketSize),
    initval: set.initval ?? 0,
  } as object as SetDefinition;
}

function bucketSizeOf(asked = LARGEST_BUCKET): number {
  return Math.min(LARGEST_BUCKET, Math.max(2, asked + (asked % 2)));
}

function bitmapOf({ name, type, range, netmask = 32 }: SetDefinition, flags: object): SetDefinition | number {
  const ends = (range ?? []).map((end) => numberOf(`${end}`)).sort((a, b) => a - b);
  const [first = 0, last = 0] = ends;
  const hosts = 2 ** (32 - netmask);
  const from = first - (first % hosts);
  const to = last - (last % hosts) + hosts - 1;
  const size = to - from + 1;
  // With a netmask the range is a network.
  if (hosts > 1 && (!Number.isInteger(Math.log2(size)) || from % size !== 0 || size <= hosts))
    return ERR.bitmapRange;
  if (size / hosts > LARGEST_BITMAP) return ERR.bitmapRangeSize;
  return {
    ...{ name, type, family: 4, range: [textOf(from), textOf(to)] },
    ...(hosts > 1 && { netmask }),
    ...flags,
  } as SetDefinition;
}

/** The error of an extension that the set does not have. */
export function findInvalidExtension(set: SetDefinition, entry: SetEntry): number | undefined {
  if (entry.timeout !== undefined && set.timeout === undefined) return ERR.timeout;
  if ((entry.packets ?? entry.bytes) !== undefined && !set.counters) return ERR.counter;
  if (entry.comment !== undefined && !set.comment) return ERR.comment;
  const { skbMark, skbPrio, skbQueue } = entry;
  return (skbMark ?? skbPrio ?? skbQueue) !== undefined && !set.skbInfo ? ERR.skbInfo : undefined;
}

/** The single entries that a valid entry stands for, as the kernel keeps them; a number is an error, and the last one. */
export function* singleEntries(set: SetDefinition, entry: SetEntry): Generator<SetEntry | number> {
  if (set.type.startsWith('bitmap:')) {
    yield* singleOfBitmap(set, entry);
    return;
  }
  for (const first of blocks(set, entry.address, entry.prefix, entry.lastAddress)) {
    for (const port of portsOf(set, entry)) {
      for (const second of blocks2(set, entry)) {
        const single = singleOf(set, entry, first, port, second);
        yield single;
        if (typeof single === 'number') return;
      }
    }
  }
}

/** An address or a network. */
interface Block {
  readonly address: string;
  readonly prefix?: number;
}

function singleOf(
  set: SetDefinition,
  entry: SetEntry,
  first: Block | undefined,
  port: Pick<SetEntry, 'protocol' | 'port' | 'icmp'>,
  second: Block | undefined,
): SetEntry | number {
  const mark = entry.mark === undefined ? undefined : (entry.mark & (set.markMask ?? -1)) >>> 0;
  const refusal = findInvalidElement(set, entry, first, mark);
  if (refusal !== undefined) return refusal;
  return {
    ...first,
    ...port,
    ...(second && { address2: second.address }),
    ...(second?.prefix !== undefined && { prefix2: second.prefix }),
    ...(entry.mac !== undefined && { mac: entry.mac.toLowerCase() }),
    ...(mark !== undefined && { mark }),
    ...(entry.interface !== undefined && { interface: entry.interface }),
    ...(entry.physdev && { physdev: true }),
    ...(entry.wildcard && { wildcard: true }),
    ...(entry.noMatch && { noMatch: true }),
    ...(entry.set !== undefined && { set: entry.set }),
  };
}

/** The kernel keeps no zero element in some types. */
function findInvalidElement(
  { type }: SetDefinition,
  { mac }: SetEntry,
  first: Block | undefined,
  mark: number | undefined,
): number | undefined {
  const isZero = first?.address === '0.0.0.0' || first?.address === '::';
  if (type === 'hash:ip' && isZero) return ERR.hashElement;
  if (type === 'hash:ip,port' && isZero) return 22; // EINVAL
  if (mark === 0 && isZero) return ERR.hashElement;
  return type.startsWith('hash:') && mac !== undefined && /^[0:]*$/.test(mac) ? ERR.hashElement : undefined;
}

function portsOf(set: SetDefinition, entry: SetEntry): Pick<SetEntry, 'protocol' | 'port' | 'icmp'>[] {
  const { protocol, port, lastPort = port, icmp } = entry;
  if (protocol === undefined) return [{}];
  const number = typeof protocol === 'string' ? PROTOCOL_NUMBERS[protocol] : protocol;
  const name = protocolOfNumber(number) ?? number;
  if (icmp !== undefined) return [{ protocol: name, icmp: { ...icmp } }];
  if (port === undefined || portFieldOf(number, set.family ?? 4) !== 'port') return [{ protocol: name }];
  const [from, to] = [Math.min(port, lastPort ?? port), Math.max(port, lastPort ?? port)];
  return Array.from({ length: to - from + 1 }, (_, i) => ({ protocol: name, port: from + i }));
}

/** The blocks of the first address. */
function* blocks(
  set: SetDefinition,
  address: string | undefined,
  prefix: number | undefined,
  last: string | undefined,
): Generator<Block | undefined> {
  if (address === undefined) {
    yield undefined;
  } else if (!SHAPES[set.type].prefixIsRange) {
    yield* networks(set, address, prefix, last);
  } else if (prefix === undefined && last === undefined) {
    yield { address: masked(set, address) };
  } else {
    const from = numberOf(address);
    const to = last === undefined ? from + 2 ** (32 - (prefix ?? 32)) - 1 : numberOf(last);
    const step = 2 ** (32 - (set.netmask ?? 32));
    const start = numberOf(masked(set, textOf(Math.min(from, to))));
    for (let at = start; at <= Math.max(from, to); at += step) yield { address: masked(set, textOf(at)) };
  }
}

function* blocks2(set: SetDefinition, entry: SetEntry): Generator<Block | undefined> {
  if (entry.address2 === undefined) yield undefined;
  else yield* networks(set, entry.address2, entry.prefix2, entry.lastAddress2);
}

/** A network, or those that a range consists of. */
function* networks(
  set: SetDefinition,
  address: string,
  prefix: number | undefined,
  last: string | undefined,
): Generator<Block> {
  const full = set.family === 6 ? 128 : 32;
  if (last === undefined) {
    yield { address: masked(set, address), ...(prefix !== undefined && prefix !== full && { prefix }) };
    return;
  }
  const ends = [numberOf(address), numberOf(last)].sort((a, b) => a - b);
  const [, to = 0] = ends;
  for (let [from = 0] = ends; from <= to; ) {
    let length = 32;
    while (length > 0 && from % 2 ** (33 - length) === 0 && from + 2 ** (33 - length) - 1 <= to) length--;
    yield { address: textOf(from), ...(length !== 32 && { prefix: length }) };
    from += 2 ** (32 - length);
  }
}

function* singleOfBitmap(set: SetDefinition, entry: SetEntry): Generator<SetEntry | number> {
  const ofPorts = set.type === 'bitmap:port';
  const [first = 0, last = 0] = (set.range ?? []).map((end) => (ofPorts ? Number(end) : numberOf(`${end}`)));
  const { address = '', prefix, lastAddress, port = 0, lastPort = port } = entry;
  const from = ofPorts ? port : numberOf(canonical(address));
  const lastOf =
    lastAddress === undefined ? from + 2 ** (32 - (prefix ?? 32)) - 1 : numberOf(canonical(lastAddress));
  const to = ofPorts ? lastPort : lastOf;
  if (Math.min(from, to) < first || Math.max(from, to) > last) {
    yield ERR.bitmapRange;
    return;
  }
  const step = 2 ** (32 - (set.netmask ?? 32));
  const start = Math.min(from, to);
  for (let at = start - (start % step); at <= Math.max(from, to); at += step) {
    const mac = entry.mac === undefined ? {} : { mac: entry.mac.toLowerCase() };
    yield ofPorts ? { port: at } : { address: textOf(at), ...mac };
  }
}

/** An address with the bits that the set keeps. */
function masked({ netmask, bitmask, family = 4 }: SetDefinition, address: string): string {
  const bytes = parseAddressAsIs(address);
  if (!bytes) return address;
  if (netmask !== undefined) return base(formatAddress(bytes), netmask);
  const mask = bitmask === undefined ? undefined : parseAddressAsIs(bitmask);
  if (!mask) return formatAddress(bytes);
  return family === 4 || mask.length === 16
    ? formatAddress(bytes.map((byte, i) => byte & (mask[i] ?? 0)))
    : address;
}

function base(address: string, prefix: number): string {
  const network = parseNetworkAsIs(`${address}/${prefix}`);
  return network ? (formatNetwork(network).split('/')[0] ?? address) : address;
}

function canonical(address: string): string {
  const bytes = parseAddressAsIs(address);
  return bytes ? formatAddress(bytes) : address;
}

function numberOf(address: string): number {
  return (parseAddressAsIs(address) ?? new Uint8Array()).reduce((number, byte) => number * 256 + byte, 0);
}

function textOf(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}

/** Whether a network that the set keeps contains the address of a tested entry, or is the tested network. */
export function contains(kept: Block, tested: Block, family: Family): boolean {
  const full = family === 6 ? 128 : 32;
  const { prefix = full } = kept;
  const length = tested.prefix ?? full;
  return (length === full || length === prefix) && base(tested.address, prefix) === kept.address;
}
