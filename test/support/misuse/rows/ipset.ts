// Valid calls of ipset.
import type {
  EntryOf,
  Ipset,
  IpsetOperation,
  ListedEntry,
  SetDefinition,
  SetReference,
} from '../../../../src/kernel/ipset/types.js';
import { alone, CALL, type Rows } from './row.js';

const COMMON = {
  ...{ hashSize: 64, maxElements: 100, bucketSize: 12, initval: 1, timeout: 60 },
  ...{ counters: true, comment: true, skbInfo: true, forceAdd: true },
} as const;
const SETS: readonly SetDefinition[] = [
  { name: 'a', type: 'hash:ip', family: 4, netmask: 24, ...COMMON },
  { name: 'b', type: 'hash:ip', family: 4, bitmask: '255.255.0.0' },
  { name: 'c', type: 'hash:ip,mark', family: 4, markMask: 255 },
  { name: 'd', type: 'list:set', size: 8 },
  { name: 'e', type: 'bitmap:port', range: [1, 1000] },
  { name: 'f', type: 'bitmap:ip', range: ['10.0.0.0', '10.0.0.255'] },
];

/** A listed entry may have these, which a deletion and a test ignore. */
const LISTED = { attributes: [{ type: 40, value: Uint8Array.of(1) }] };
const EXTENSIONS = {
  ...{ timeout: 5, packets: 1n, bytes: 2n, comment: 'c', skbMark: 1, skbMask: 255 },
  ...{ skbPrio: 1, skbQueue: 1 },
};
const ENTRIES: readonly (readonly [SetReference, EntryOf])[] = [
  [
    { name: 'a', type: 'hash:net,port,net', family: 4 },
    {
      ...{ address: '10.0.0.0', prefix: 8, protocol: 'tcp', port: 80 },
      ...{ address2: '10.1.0.0', prefix2: 16, noMatch: true, ...EXTENSIONS },
    },
  ],
  [
    { name: 'a', type: 'hash:ip,port', family: 4 },
    { address: '10.0.0.0', protocol: 1, icmp: { type: 8, code: 0 } },
  ],
  [
    { name: 'b', type: 'hash:ip,mark', family: 4 },
    { address: '10.0.0.1', mark: 1 },
  ],
  [{ name: 'c', type: 'hash:mac' }, { mac: '02:00:00:00:00:01' }],
  [
    { name: 'd', type: 'hash:net,iface', family: 4 },
    { address: '10.0.0.0', prefix: 8, interface: 'lo', physdev: true, wildcard: true },
  ],
  [
    { name: 'e', type: 'list:set' },
    { set: 'a', before: 'b' },
  ],
  [
    { name: 'e', type: 'list:set' },
    { set: 'a', after: 'b' },
  ],
];
/** Ranges, which a test does not have. */
const RANGES: readonly (readonly [SetReference, EntryOf])[] = [
  [
    { name: 'f', type: 'hash:net,port,net', family: 4 },
    {
      ...{ address: '10.0.0.0', lastAddress: '10.0.0.7', protocol: 'udp', port: 1, lastPort: 2 },
      ...{ address2: '10.1.0.0', lastAddress2: '10.1.0.7' },
    },
  ],
];
const NAMES: readonly (readonly [SetReference, EntryOf])[] = [
  [{ name: 'a', type: 'hash:ip', family: 4 }, { address: '10.0.0.1', ...LISTED } as unknown as ListedEntry],
];
const CHANGE = { ...CALL, strict: true };
const changes = (verb: 'add' | 'delete') =>
  [...ENTRIES, ...RANGES].map(([set, entry]) => ({ do: verb, set, entry, strict: true }) as IpsetOperation);

/** Valid calls of each verb. */
export const IPSET: Rows<Ipset> = {
  list: [[CALL]],
  get: [['a', CALL]],
  entries: [['a', CALL]],
  test: [...ENTRIES, ...NAMES].map(([set, entry]) => [set, entry, CALL]),
  types: [[CALL]],
  capabilities: [[CALL]],
  create: SETS.map((set) => [set, CHANGE]),
  add: [...ENTRIES, ...RANGES].map(([set, entry]) => [set, entry, CHANGE]),
  delete: [...ENTRIES, ...RANGES, ...NAMES].map(([set, entry]) => [set, entry, CHANGE]),
  flush: [['a', CALL]],
  flushAll: [[{ confirm: 'remove every entry of every set', ...CALL }]],
  destroy: [['a', CALL]],
  destroyAll: [[{ confirm: 'destroy every set', ...CALL }]],
  rename: [['a', 'b', CALL]],
  swap: [['a', 'b', CALL]],
  grow: [['a', { maxElements: 200, hashSize: 128 }, CALL]],
  apply: alone<IpsetOperation>(
    ...SETS.map((set) => ({ do: 'create', set, strict: false }) as const),
    ...changes('add'),
    ...changes('delete'),
    ...NAMES.map(([set, entry]) => ({ do: 'delete', set, entry }) as IpsetOperation),
    { do: 'flush', name: 'a' },
    { do: 'destroy', name: 'a' },
    { do: 'flushAll', confirm: 'remove every entry of every set' },
    { do: 'destroyAll', confirm: 'destroy every set' },
    { do: 'swap', name: 'a', other: 'b' },
    { do: 'rename', name: 'a', newName: 'b' },
  ),
};
