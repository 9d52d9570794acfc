// Valid calls of nftables.
import type {
  NewChain,
  NewElement,
  NewObject,
  NewRule,
  NewSet,
  Nftables,
  NftablesOperation,
} from '../../../../src/kernel/nftables/types.js';
import { CONNECTION_OBJECTS, EXPRESSIONS } from '../../nftables/everything.js';
import { CALL, type Rows } from './row.js';

const IN = { family: 'ip', table: 't' } as const;
const TABLE = { family: 'ip', name: 't' } as const;
/** A valid one. */
export const NEW_TABLE = { ...TABLE, flags: ['dormant', 64], comment: 'c' } as const;
const CHAIN = { ...IN, name: 'c' } as const;
/** Valid ones. */
export const NEW_CHAINS: readonly NewChain[] = [
  {
    ...CHAIN,
    base: { type: 'filter', hook: 'input', priority: 0, policy: 'drop', devices: ['lo'] },
    comment: 'c',
  },
  { ...CHAIN, family: 2, base: { type: 'filter', hook: 9, priority: 0 } },
];
const SET = { ...IN, name: 's' } as const;
const COUNTER = { kind: 'counter', packets: 1n, bytes: 2n } as const;
const NAMED = {
  ...SET,
  key: ['ipv4_addr', 'inet_service'],
  data: ['ipv4_addr', 'inet_service'],
  flags: ['timeout', 128],
  keyExpressions: ['ip daddr', 'th dport'],
  dataExpressions: ['ip saddr', 'th sport'],
} as const;
/** Valid ones. */
export const NEW_SETS: readonly NewSet[] = [
  { ...NAMED, size: 5, timeout: 5n, autoMerge: true, comment: 'c' },
  {
    ...{ ...SET, key: 'ipv4_addr', data: 'inet_service', flags: ['timeout'] },
    ...{ policy: 'memory', gcInterval: 5, expressions: [COUNTER] },
  },
];
/** A valid map of objects. */
export const OF_OBJECTS = { ...SET, key: 'ipv4_addr', objects: 'counter' } as const;
/** A valid one. */
export const OF_OBJECT = { key: '10.0.0.1', object: 'o', expressions: [COUNTER] } as const;
const KEY = { key: ['10.0.0.1', 80] } as const;
/** Valid ones. */
export const NEW_ELEMENTS: readonly NewElement[] = [
  { ...KEY, data: ['10.0.0.2', 81], timeout: 5n, expires: 4n, comment: 'c' },
  { key: Uint8Array.of(10, 0, 0, 1, 0, 80, 0, 0), data: Uint8Array.of(10, 0, 0, 2, 0, 81, 0, 0) },
];
const RANGES = { ...SET, key: 'ipv4_addr', flags: ['interval'] } as const;
const RANGE = { key: '10.0.0.1', keyEnd: '10.0.0.9' } as const;
/** A valid map of intervals to intervals. */
export const DATA_RANGES = {
  ...SET,
  key: 'ipv4_addr',
  data: ['ipv4_addr', 'inet_service'],
  dataIsInterval: true,
  flags: ['interval'],
} as const;
/** A valid one. */
export const DATA_RANGE = { ...RANGE, data: ['10.1.0.1', 80], dataEnd: ['10.1.0.9', 90] } as const;
/** A valid one. */
export const PAIRS = { ...SET, key: ['ipv4_addr', 'inet_service'], flags: ['interval'] } as const;
/** A valid one. */
export const PAIR = { key: ['10.0.0.1', 80], keyEnd: ['10.0.0.9', 90] } as const;
/** A valid one. */
export const VERDICTS = { ...SET, key: 'ipv4_addr', data: 'verdict' } as const;
/** A valid one. */
export const VERDICT = { key: '10.0.0.1', data: { verdict: 'goto', chain: 'c' } } as const;
/** Valid ones. */
export const OBJECTS: readonly NewObject[] = [
  { ...IN, name: 'o', type: 'counter', packets: 1n, bytes: 2n, comment: 'c' },
  { ...IN, name: 'o', type: 'quota', bytes: 5n, over: true, used: 1n, comment: 'c' },
  { ...IN, name: 'o', type: 'limit', rate: 1n, unit: 1n, burst: 1, over: true, of: 'bytes' },
  { ...IN, name: 'o', type: 'synproxy', mss: 1460, windowScale: 7, flags: ['timestamp', 'sack-perm'] },
  ...CONNECTION_OBJECTS,
];
/** A valid one. */
export const FLOW_TABLE = {
  ...IN,
  name: 'f',
  priority: 1,
  devices: ['eth0'],
  flags: ['counter', 16],
} as const;
const OBJECT = { ...IN, name: 'o', type: 'quota' } as const;
const HANDLE = { ...IN, chain: 'c', handle: 5n } as const;

/** Rules of one expression each, which together have every field of every expression. */
export const RULES: readonly NewRule[] = [
  ...EXPRESSIONS.map((expression) => ({ ...IN, chain: 'c', expressions: [expression], comment: 'c' })),
  {
    ...IN,
    chain: 'c',
    expressions: [
      {
        kind: 'lookup',
        source: 1,
        register: 1,
        set: { ...shapeOf(NAMED), name: 'n', elements: NEW_ELEMENTS },
      },
      { kind: 'lookup', source: 1, set: { key: 'ipv4_addr', flags: ['interval'], elements: [RANGE] } },
      { kind: 'lookup', source: 1, register: 1, set: { ...bare(DATA_RANGES), elements: [DATA_RANGE] } },
      { kind: 'objrefMap', source: 1, set: { ...bare(OF_OBJECTS), elements: [OF_OBJECT] } },
      { kind: 'lookup', source: 1, set: { key: PAIRS.key, flags: PAIRS.flags, elements: [PAIR] } },
      {
        kind: 'lookup',
        source: 1,
        register: 0,
        set: { key: 'ipv4_addr', data: 'verdict', elements: [VERDICT] },
      },
    ],
  },
];

/** The shape of a set of a rule. */
function bare<Set extends NewSet>({ family: _, table: __, name: ___, ...shape }: Set) {
  return shape;
}

function shapeOf({ key, data, keyExpressions, dataExpressions }: typeof NAMED) {
  return { key, data, flags: ['timeout', 128], keyExpressions, dataExpressions } as const;
}

/** A map whose elements can be given as bytes. */
const PORTS = { ...IN, name: 'ports', key: ['ipv4_addr', 'inet_service'], data: 'inet_service' } as const;
const PORT_KEYS = { count: 2, keys: new Uint8Array(16) };
const PORT_BYTES = { ...PORT_KEYS, data: new Uint8Array(4) };

const WATCH = { ...CALL, gather: 1, keepAlive: false, receiveBuffer: 65_536 };
const FILTER = { family: 'ip', table: 't' } as const;

const OPERATIONS: readonly NftablesOperation[] = [
  { do: 'addTable', table: NEW_TABLE, exclusive: true },
  { do: 'deleteTable', table: TABLE, ifExists: true },
  { do: 'flushTable', table: TABLE },
  ...NEW_CHAINS.map((chain) => ({ do: 'addChain', chain, exclusive: false }) as const),
  { do: 'deleteChain', chain: CHAIN, ifExists: true },
  { do: 'flushChain', chain: CHAIN },
  ...RULES.map((rule) => ({ do: 'addRule', rule, after: 5n }) as const),
  { do: 'insertRule', rule: { ...IN, chain: 'c', expressions: [], comment: 'c' }, before: 5n },
  { do: 'replaceRule', rule: { ...HANDLE, expressions: [], comment: 'c' } },
  { do: 'deleteRule', rule: HANDLE, ifExists: true },
  ...NEW_SETS.map((set) => ({ do: 'addSet', set, exclusive: true }) as const),
  { do: 'deleteSet', set: SET, ifExists: true },
  { do: 'addElements', set: NAMED, elements: NEW_ELEMENTS, exclusive: true },
  { do: 'addElements', set: VERDICTS, elements: [VERDICT] },
  { do: 'addElements', set: RANGES, elements: [RANGE] },
  { do: 'addElements', set: PAIRS, elements: [PAIR] },
  { do: 'addSet', set: DATA_RANGES },
  { do: 'addElements', set: DATA_RANGES, elements: [DATA_RANGE] },
  { do: 'addSet', set: OF_OBJECTS },
  { do: 'addElements', set: OF_OBJECTS, elements: [OF_OBJECT] },
  { do: 'addElements', set: PORTS, elements: PORT_BYTES },
  { do: 'deleteElements', set: NAMED, elements: [KEY], ifExists: true },
  { do: 'deleteElements', set: PORTS, elements: PORT_KEYS },
  { do: 'deleteElements', set: PAIRS, elements: [PAIR] },
  { do: 'flushSet', set: SET },
  ...OBJECTS.map((object) => ({ do: 'addObject', object, exclusive: true }) as const),
  { do: 'deleteObject', object: OBJECT, ifExists: true },
  { do: 'addFlowTable', flowTable: FLOW_TABLE, exclusive: true },
  { do: 'deleteFlowTable', flowTable: { ...SET, devices: ['lo'], priority: 0 }, ifExists: true },
];

/** Valid calls of each verb. */
export const NFTABLES: Rows<Nftables> = {
  apply: OPERATIONS.map((operation) => [[operation], { ...CALL, generation: 5 }] as const),
  addTable: [[NEW_TABLE, CALL]],
  deleteTable: [[TABLE, CALL]],
  flushTable: [[TABLE, CALL]],
  addChain: NEW_CHAINS.map((chain) => [chain, CALL] as const),
  deleteChain: [[CHAIN, CALL]],
  flushChain: [[CHAIN, CALL]],
  addRule: RULES.map((rule) => [rule, CALL] as const),
  insertRule: RULES.map((rule) => [rule, CALL] as const),
  replaceRule: RULES.map((rule) => [{ ...rule, handle: 5n }, CALL] as const),
  deleteRule: [[HANDLE, CALL]],
  addSet: [...NEW_SETS, DATA_RANGES, OF_OBJECTS].map((set) => [set, CALL] as const),
  deleteSet: [[SET, CALL]],
  flushSet: [[SET, CALL]],
  addElements: [
    [NAMED, NEW_ELEMENTS, CALL],
    [VERDICTS, [VERDICT], CALL],
    [RANGES, [RANGE], CALL],
    [DATA_RANGES, [DATA_RANGE], CALL],
    [OF_OBJECTS, [OF_OBJECT], CALL],
    [PAIRS, [PAIR], CALL],
    [PORTS, PORT_BYTES, CALL],
  ],
  deleteElements: [
    [DATA_RANGES, [RANGE], CALL],
    [OF_OBJECTS, [{ key: OF_OBJECT.key }], CALL],
    [NAMED, [KEY], CALL],
    [RANGES, [RANGE], CALL],
    [PAIRS, [PAIR], CALL],
    [PORTS, PORT_KEYS, CALL],
  ],
  addObject: OBJECTS.map((object) => [object, CALL] as const),
  deleteObject: [[OBJECT, CALL]],
  addFlowTable: [[FLOW_TABLE, CALL]],
  deleteFlowTable: [[{ ...SET, devices: ['lo'], priority: 0 }, CALL]],
  listTables: [[{ family: 'ip' }, CALL]],
  listChains: [[FILTER, CALL]],
  listRules: [[{ ...FILTER, chain: 'c' }, CALL]],
  listSets: [[FILTER, CALL]],
  listElements: [
    [{ ...SET, key: NAMED.key, data: NAMED.data, flags: NAMED.flags }, CALL],
    [DATA_RANGES, CALL],
    [OF_OBJECTS, CALL],
  ],
  listElementBytes: [[{ ...SET, key: NAMED.key, data: NAMED.data, flags: NAMED.flags }, CALL]],
  listObjects: [[FILTER, CALL]],
  listFlowTables: [[FILTER, CALL]],
  getTable: [[TABLE, CALL]],
  getChain: [[CHAIN, CALL]],
  getSet: [[SET, CALL]],
  getElements: [
    [DATA_RANGES, [RANGE], CALL],
    [OF_OBJECTS, [{ key: OF_OBJECT.key }], CALL],
    [NAMED, [KEY], CALL],
    [RANGES, [RANGE], CALL],
    [PAIRS, [PAIR], CALL],
  ],
  generation: [[CALL]],
  port: [[CALL]],
  watch: [[WATCH]],
  watchCommits: [[WATCH]],
};
