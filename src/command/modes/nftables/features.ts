// The expressions of nf_tables without which no Service works, each with a rule that only a kernel with it accepts.

import type { Family } from '../../../kernel/net/address.js';
import type { Expression } from '../../../kernel/nftables/expressions/types.js';
import type { BaseChain } from '../../../kernel/nftables/types.js';

/** An expression that is a kernel module of its own. */
export interface Feature {
  readonly name: string;
  /** The kernel module that has it. */
  module(family: Family): string;
  /** Expressions of a rule that needs no other feature. */
  rule(family: Family): readonly Expression[];
  /** The type of the chain that the rule needs; default: none. */
  readonly chain?: Pick<BaseChain, 'type' | 'hook'>;
}

/** The features that the rules of the node and of every Service have. The other expressions are part of nf_tables. */
export const FEATURES: readonly Feature[] = [
  {
    name: 'ct',
    module: () => 'nft_ct',
    rule: () => [{ kind: 'ct', key: 'state', register: 1 }],
  },
  {
    name: 'fib',
    module: (family) => `nft_fib_ipv${family}`,
    rule: () => [{ kind: 'fib', result: 'type', flags: ['daddr'], register: 1 }],
    chain: { type: 'filter', hook: 'prerouting' },
  },
  {
    name: 'numgen',
    module: () => 'nft_numgen',
    rule: () => [{ kind: 'numgen', type: 'random', modulus: 2, register: 1 }],
  },
  {
    name: 'reject',
    module: (family) => `nft_reject_ipv${family}`,
    rule: (family) => [{ kind: 'reject', type: 'icmp', code: family === 4 ? 3 : 4 }],
    chain: { type: 'filter', hook: 'output' },
  },
  {
    name: 'nat',
    module: () => 'nft_nat',
    rule: (family) => [
      { kind: 'immediate', register: 1, data: new Uint8Array(family === 4 ? 4 : 16) },
      { kind: 'nat', type: 'dnat', family: family === 4 ? 'ip' : 'ip6', address: 1 },
    ],
    chain: { type: 'nat', hook: 'prerouting' },
  },
  {
    name: 'masq',
    module: () => 'nft_masq',
    rule: () => [{ kind: 'masq', flags: ['fully-random'] }],
    chain: { type: 'nat', hook: 'postrouting' },
  },
];
