// The rules of each set type: the fields of its entries, and the parameters of its sets.
// Source: ipset(8), `ipset help TYPE`, and net/netfilter/ipset/ip_set_*.c.
import type { Family } from '../net/address.js';
import type { RecordWriter } from '../shared/records/recordWriter.js';
import { ENTRY_FIELD } from './layouts.js';
import type { SetDefinition, SetEntry, SetType } from './types.js';

/** The bits of the fields of entries; the first ones are those of a record. */
export const BITS = {
  ...ENTRY_FIELD.numbers,
  lastAddress: 1 << 8,
  lastPort: 1 << 9,
  lastAddress2: 1 << 10,
  mac: 1 << 11,
  mark: 1 << 12,
  interface: 1 << 13,
  physdev: 1 << 14,
  wildcard: 1 << 15,
  set: 1 << 16,
  before: 1 << 17,
  after: 1 << 18,
  timeout: 1 << 19,
  packets: 1 << 20,
  bytes: 1 << 21,
  comment: 1 << 22,
  skbMark: 1 << 23,
  skbMask: 1 << 24,
  skbPrio: 1 << 25,
  skbQueue: 1 << 26,
} as const;

/** The bit of each field of an entry; 0 for a field that no operation has, undefined for what is not a field. */
export const FIELD_BITS: Readonly<Partial<Record<string, number>>> = Object.assign(Object.create(null), {
  ...BITS,
  icmp: BITS.port,
  attributes: 0,
} satisfies Record<keyof SetEntry, number>);

/** Every set can have these extensions: their fields follow the entry itself. */
export const EXTENSIONS =
  BITS.timeout |
  BITS.packets |
  BITS.bytes |
  BITS.comment |
  BITS.skbMark |
  BITS.skbMask |
  BITS.skbPrio |
  BITS.skbQueue;

/** Fields that are ranges of several entries. A test has none. */
export const RANGES = BITS.lastAddress | BITS.lastPort | BITS.lastAddress2;

/** A parameter of a set. */
export type Parameter = Exclude<keyof SetDefinition, 'name' | 'type'>;

/** The rules of a set type. */
export interface Shape {
  /** The families of its addresses; none for a type without addresses, which has no family. */
  readonly families: readonly Family[];
  /** The fields of an entry in a set of IPv4, or of no family; sum of {@link FIELD_BITS}, without extensions. */
  readonly fields: number;
  /** The same for IPv6, where the kernel accepts no range of addresses. */
  readonly fields6: number;
  /** The fields among them that every entry has; a `port` only where the protocol has one. */
  readonly required: number;
  /** `prefix` means every address of the network, each as an entry. */
  readonly prefixIsRange: boolean;
  /** The shortest prefix of its networks. The kernel refuses 0 in most types. */
  readonly leastPrefix: 0 | 1;
  /** The parameters of a set in the order in which `ipset save` prints them. */
  readonly parameters: readonly Parameter[];
}

const IP = BITS.address | BITS.prefix | BITS.lastAddress;
const IP2 = BITS.address2;
const NET = IP | BITS.noMatch;
const NET2 = BITS.address2 | BITS.prefix2 | BITS.lastAddress2 | BITS.noMatch;
const PORT = BITS.protocol | BITS.port | BITS.lastPort;
const REQUIRED =
  BITS.address | BITS.protocol | BITS.port | BITS.address2 | BITS.mac | BITS.mark | BITS.interface | BITS.set;

const WITH_EXTENSIONS: readonly Parameter[] = ['timeout', 'counters', 'comment'];
const SIZES: readonly Parameter[] = ['hashSize', 'maxElements'];
const END: readonly Parameter[] = ['forceAdd', 'skbInfo', 'bucketSize', 'initval'];
const MASKS: readonly Parameter[] = ['netmask', 'bitmask'];
const HASH: readonly Parameter[] = ['family', ...SIZES, ...WITH_EXTENSIONS, ...END];

/** A hash whose first part is an address, which stands for one entry, or is a network: an entry itself. */
function hash(first: 'address' | 'network', fields: number, parameters = HASH): Shape {
  const prefixIsRange = first === 'address';
  const ranges = BITS.lastAddress | BITS.lastAddress2 | (prefixIsRange ? BITS.prefix : 0);
  const required = fields & REQUIRED;
  return {
    families: [4, 6],
    fields,
    fields6: fields & ~ranges,
    required,
    prefixIsRange,
    leastPrefix: 1,
    parameters,
  };
}

function fixed(families: readonly Family[], fields: number, ...own: readonly Parameter[]): Shape {
  const parameters = [...own, ...WITH_EXTENSIONS, 'skbInfo'] as const;
  const required = fields & REQUIRED;
  return { families, fields, fields6: 0, required, prefixIsRange: true, leastPrefix: 1, parameters };
}

/** The rules of every type. */
export const SHAPES: Readonly<Record<SetType, Shape>> = {
  'bitmap:ip': fixed([4], IP, 'range', 'netmask'),
  'bitmap:ip,mac': { ...fixed([4], BITS.address | BITS.mac, 'range'), required: BITS.address },
  'bitmap:port': fixed([], BITS.port | BITS.lastPort, 'range'),
  'hash:ip': hash('address', IP, ['family', ...SIZES, ...MASKS, ...WITH_EXTENSIONS, ...END]),
  'hash:mac': { ...hash('address', BITS.mac, [...SIZES, ...WITH_EXTENSIONS, ...END]), families: [] },
  'hash:ip,mac': hash('address', BITS.address | BITS.mac),
  'hash:net': hash('network', NET),
  'hash:net,net': hash('network', NET | NET2, [...HASH, 'bitmask', 'netmask']),
  'hash:ip,port': hash('address', IP | PORT, [...HASH, ...MASKS]),
  'hash:net,port': hash('network', NET | PORT),
  'hash:ip,port,ip': hash('address', IP | PORT | IP2),
  'hash:ip,port,net': hash('address', IP | PORT | NET2),
  'hash:ip,mark': hash('address', IP | BITS.mark, ['family', 'markMask', ...HASH.slice(1)]),
  'hash:net,port,net': { ...hash('network', NET | PORT | NET2), leastPrefix: 0 },
  'hash:net,iface': {
    ...hash('network', NET | BITS.interface | BITS.physdev | BITS.wildcard),
    leastPrefix: 0,
  },
  'list:set': fixed([], BITS.set | BITS.before | BITS.after, 'size'),
};

// ip_set_proto_with_ports(): TCP, UDP, SCTP, UDP-Lite.
const WITH_PORTS: ReadonlySet<number> = new Set([6, 17, 132, 136]);
const ICMP: Readonly<Record<Family, number>> = { 4: 1, 6: 58 };

/** The field of a port, by the IP protocol and the family of the set; none for protocols that the kernel stores without ports. */
export function portFieldOf(protocol: number, family: Family): 'port' | 'icmp' | undefined {
  if (WITH_PORTS.has(protocol)) return 'port';
  return protocol === ICMP[family] ? 'icmp' : undefined;
}

/** Notes a field that its owner, `of`, does not have. */
export function refuse(writer: RecordWriter, field: string, value: unknown, of: string): void {
  writer.fail(field, value, `must be left out for ${of}`);
}
