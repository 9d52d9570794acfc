// The operations of ipvs mode, and their order.
import type { IpsetOperation } from '../../../../kernel/ipset/types.js';
import type { IptablesOperation } from '../../../../kernel/iptables/types.js';
import type { IpvsTimeouts } from '../../../../kernel/ipvs/types.js';
import { changeSize, type ServiceChange } from '../../../../kernel/ipvs/values/serverLists.js';
import type { Family } from '../../../../kernel/net/address.js';
import type { RtnetlinkOperation } from '../../../../kernel/rtnetlink/types.js';
import type { Item } from './items.js';

/**
 * The order of the phases that add or change. Items are added after those that they refer to. Addresses are added last,
 * because then traffic arrives, and deleted first. Additions precede deletions: for every new real server, the kernel
 * scans its list of deleted ones. Entries are deleted only after their virtual services have been: the sets record which virtual
 * services are ours, also after a restart. Firewalls that only lose rules lose them after that: those rules may refuse packets to the
 * virtual services that are deleted.
 */
export const ADDITIONS = [
  'settings',
  'link',
  'sets',
  'addEntries',
  'rules',
  'addServers',
  'addAddresses',
] as const;

/**
 * The order of the phases that remove. They follow all additions of a pass. A chain that leads to chains of another mode
 * serves traffic until then.
 */
export const REMOVALS = [
  'replaceRules',
  'deleteAddresses',
  'deleteServers',
  'deleteEntries',
  'deleteRules',
  'deleteSets',
  'deleteLink',
] as const;

/** The order of all phases. */
export const ORDER = [...ADDITIONS, ...REMOVALS] as const;

/** A phase of {@link ORDER}. */
export type Phase = (typeof ORDER)[number];

/** A call on one part of the kernel. */
export type KernelCall =
  | { readonly on: 'sysctl'; readonly name: string; readonly value: string }
  | { readonly on: 'timeouts'; readonly timeouts: IpvsTimeouts }
  | { readonly on: 'rtnetlink'; readonly operation: RtnetlinkOperation }
  | { readonly on: 'ipset'; readonly operation: IpsetOperation }
  | { readonly on: 'iptables'; readonly family: Family; readonly operation: IptablesOperation }
  | { readonly on: 'nftables'; readonly family: Family; readonly change: TableChange }
  | { readonly on: 'ipvs'; readonly change: ServiceChange };

/** The change of one item in the table of nf_tables. `replace`: it is deleted, and made anew, in one transaction. */
export interface TableChange {
  readonly do: 'add' | 'replace' | 'delete';
  readonly item: Extract<Item, { kind: 'table' | 'tableChain' | 'entry' | 'nodeDrop' | 'shortcut' }>;
}

/** One operation: its call, its phase, and the resulting item of the key. */
export interface Operation {
  readonly key: string;
  readonly phase: Phase;
  /** Number of the kernel's operations: for a virtual service, one for each change of itself or of a real server. */
  readonly size: number;
  readonly call: KernelCall;
  /** The item afterwards; undefined if it is removed. */
  readonly becomes: Item | undefined;
  /** Keys whose earlier operations must succeed, otherwise this one is held back. Also if a key has no operation. */
  readonly after?: readonly string[];
}

/** The operation that makes a change of a virtual service. */
export function serverOperation(
  phase: Phase,
  key: string,
  change: ServiceChange,
  becomes: Item | undefined,
): Operation {
  return { key, phase, size: changeSize(change), call: { on: 'ipvs', change }, becomes };
}
