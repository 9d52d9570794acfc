// The operations of iptables mode, and their order.
import type { IptablesOperation } from '../../../../kernel/iptables/types.js';
import type { Family } from '../../../../kernel/net/address.js';
import type { Item } from './items.js';

/**
 * The order of the phases that add or change. Node ports on loopback addresses need their setting before their rules.
 * Chains precede the rules that jump to them.
 */
export const ADDITIONS = ['settings', 'chains', 'rules'] as const;

/** The order of the phases that remove. They follow all additions of a pass. A chain is deleted after the rules that jump to it. */
export const REMOVALS = ['deleteRules', 'deleteChains'] as const;

/** The order of all phases. */
export const ORDER = [...ADDITIONS, ...REMOVALS] as const;

/** A phase of {@link ORDER}. */
export type Phase = (typeof ORDER)[number];

/** A change, and the Service that has its item. */
export interface OwnedChange {
  readonly operation: IptablesOperation;
  /** `namespace/name`; undefined for items of the node and for those that were only read. */
  readonly service: string | undefined;
}

/** A call on one part of the kernel. */
export type KernelCall =
  | { readonly on: 'sysctl'; readonly name: string; readonly value: string }
  | ({ readonly on: 'iptables'; readonly family: Family } & OwnedChange);

/** One operation: its call, its phase, and the resulting item of the key. */
export interface Operation {
  readonly key: string;
  readonly phase: Phase;
  readonly call: KernelCall;
  /** The item afterwards; undefined if it is removed. */
  readonly becomes: Item | undefined;
}
