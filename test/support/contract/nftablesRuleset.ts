// A ruleset with each kind of object, as the contract of nftables writes it.
import type { NftablesOperation } from '../../../src/kernel/nftables/types.js';

/** The table. */
export const T = { family: 'ip', table: 't' } as const;
/** A verdict map by address, protocol and port. */
export const MAP = {
  ...T,
  name: 'vips',
  key: ['ipv4_addr', 'inet_proto', 'inet_service'],
  data: 'verdict',
} as const;
/** A set of addresses. */
export const ADDRESSES = { ...T, name: 'addresses', key: 'ipv4_addr' } as const;
/** A set of intervals. */
export const NETWORKS = { ...T, name: 'networks', key: 'ipv4_addr', flags: ['interval'] } as const;
/** A set whose elements have a lifetime. */
export const CLIENTS = {
  ...T,
  name: 'clients',
  key: 'ipv4_addr',
  flags: ['timeout', 'dynamic'],
  timeout: 60_000n,
} as const;

/** The destination address, in register 1. */
export const DESTINATION = {
  kind: 'payload',
  base: 'network',
  offset: 16,
  length: 4,
  register: 1,
} as const;

/** Operations of {@link ruleset}, by their names in tests. */
export const table: NftablesOperation = {
  do: 'addTable',
  table: { family: 'ip', name: 't', comment: 'a table' },
};

/** Adds a chain that packets reach by jumps. */
export const chain = (name: string): NftablesOperation => ({ do: 'addChain', chain: { ...T, name } });

/** Adds a rule with a counter, and with a comment that tests know it by. */
export const counted = (name: string, comment: string): NftablesOperation => ({
  do: 'addRule',
  rule: { ...T, chain: name, expressions: [{ kind: 'counter', packets: 0n, bytes: 0n }], comment },
});

/** A table, chains, sets with elements, rules and objects, which refer to each other. */
export const ruleset: readonly NftablesOperation[] = [
  table,
  {
    do: 'addChain',
    chain: { ...T, name: 'input', base: { type: 'filter', hook: 'input', priority: -10, policy: 'accept' } },
  },
  {
    do: 'addChain',
    chain: { ...T, name: 'nat', base: { type: 'nat', hook: 'prerouting', priority: -100, policy: 'accept' } },
  },
  { do: 'addChain', chain: { ...T, name: 'web', comment: 'a chain' } },
  { do: 'addSet', set: { ...ADDRESSES, comment: 'a set' } },
  { do: 'addSet', set: MAP },
  { do: 'addSet', set: NETWORKS },
  { do: 'addSet', set: CLIENTS },
  { do: 'addObject', object: { ...T, name: 'seen', type: 'counter' } },
  {
    do: 'addElements',
    set: ADDRESSES,
    elements: [{ key: '10.0.0.1' }, { key: '10.0.0.2', comment: 'the second' }],
  },
  {
    do: 'addElements',
    set: MAP,
    elements: [
      { key: ['10.0.0.1', 'tcp', 80], data: { verdict: 'goto', chain: 'web' } },
      { key: ['10.0.0.2', 'udp', 53], data: { verdict: 'drop' } },
    ],
  },
  {
    do: 'addElements',
    set: NETWORKS,
    elements: [{ key: '10.1.0.0', keyEnd: '10.1.255.255' }, { key: '10.3.0.0' }],
  },
  {
    do: 'addRule',
    rule: {
      ...T,
      chain: 'input',
      expressions: [
        DESTINATION,
        { kind: 'lookup', set: 'addresses', source: 1 },
        { kind: 'verdict', verdict: { verdict: 'drop' } },
      ],
      comment: 'a rule',
    },
  },
  {
    do: 'addRule',
    rule: {
      ...T,
      chain: 'nat',
      expressions: [
        DESTINATION,
        { kind: 'meta', key: 'l4proto', register: 9 },
        { kind: 'payload', base: 'transport', offset: 2, length: 2, register: 10 },
        { kind: 'lookup', set: 'vips', source: 1, register: 0 },
      ],
    },
  },
  {
    do: 'addRule',
    rule: {
      ...T,
      chain: 'web',
      expressions: [
        { kind: 'objref', type: 'counter', name: 'seen' },
        { kind: 'numgen', type: 'random', modulus: 2, register: 1 },
        {
          kind: 'lookup',
          source: 1,
          register: 1,
          set: {
            key: 'integer',
            data: ['ipv4_addr', 'inet_service'],
            flags: ['constant'],
            elements: [
              { key: 0, data: ['10.244.0.1', 8080] },
              { key: 1, data: ['10.244.0.2', 8080] },
            ],
          },
        },
      ],
    },
  },
];
