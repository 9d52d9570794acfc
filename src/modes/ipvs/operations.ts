// The operations of ipvs mode, and their order.
import type { IpsetOperation } from '../../kernel/ipset/types.js';
import type { IptablesOperation } from '../../kernel/iptables/types.js';
import type { IpvsTimeouts, RealServer, RealServerId } from '../../kernel/ipvs/types.js';
import type { RtnetlinkOperation } from '../../kernel/rtnetlink/types.js';
import type { Family } from '../../net/address.js';
import { AddressPorts } from '../../net/addressPorts.js';
import type { Known } from '../mode.js';
import type { Item, VirtualServiceItem } from './items.js';
import { plannedServer } from './realServers.js';

/**
 * The order of the phases that add or change. Items are added after those that they refer to. Addresses are added last, because then
 * traffic arrives, and deleted first. Additions precede deletions: for every new real server, the kernel scans its list
 * of deleted ones. Entries are deleted only after their virtual services have been: the sets record which virtual
 * services are ours, also after a restart.
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

/** The order of the phases that remove. They follow all additions of a pass. */
export const REMOVALS = [
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

/** A change of one real server, with all its settings. */
export type RealServerChange =
  | { readonly do: 'addRealServer' | 'updateRealServer'; readonly realServer: RealServer }
  | { readonly do: 'deleteRealServer'; readonly realServer: RealServerId };

/** The changes of a virtual service and its real servers, in the order in which they are made. */
export interface ServerChanges {
  /** The change of the virtual service itself. */
  readonly verb: 'addService' | 'updateService' | 'deleteService' | undefined;
  /** Real servers that are added with the settings of plans. */
  readonly added: AddressPorts;
  /** Indexes of `added` in the order of the additions; undefined: the order of the list. */
  readonly order: readonly number[] | undefined;
  /** Real servers that are deleted. */
  readonly deleted: AddressPorts;
  /** Changes of real servers that have, or get, other settings. */
  readonly others: readonly RealServerChange[];
}

/** A change of one virtual service and of all its real servers. */
export interface ServerCall extends ServerChanges {
  readonly on: 'ipvs';
  readonly service: VirtualServiceItem['service'];
}

/** A call on one part of the kernel. */
export type KernelCall =
  | { readonly on: 'sysctl'; readonly name: string; readonly value: string }
  | { readonly on: 'timeouts'; readonly timeouts: IpvsTimeouts }
  | { readonly on: 'rtnetlink'; readonly operation: RtnetlinkOperation }
  | { readonly on: 'ipset'; readonly operation: IpsetOperation }
  | { readonly on: 'iptables'; readonly family: Family; readonly operation: IptablesOperation }
  | ServerCall;

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

/** No change of a virtual service of this family. */
export function noChanges(family: Family): ServerChanges {
  const none = AddressPorts.none(family);
  return { verb: undefined, added: none, order: undefined, deleted: none, others: [] };
}

/** The operation that makes these changes of a virtual service. */
export function serverOperation(
  phase: Phase,
  key: string,
  service: VirtualServiceItem['service'],
  { verb, added, order, deleted, others }: ServerChanges,
  becomes: Item | undefined,
): Operation {
  const size = (verb === undefined ? 0 : 1) + added.size + deleted.size + others.length;
  const call: ServerCall = { on: 'ipvs', service, verb, added, order, deleted, others };
  return { key, phase, size, call, becomes };
}

/** One of the kernel's operations on a virtual service or a real server. */
export type IpvsChange =
  | { readonly do: 'addService' | 'updateService' | 'deleteService'; readonly service: ServerCall['service'] }
  | (RealServerChange & { readonly service: ServerCall['service'] });

/** One of the kernel's operations of a call, from 0 to `size` of its operation - 1. */
export function ipvsOperationAt(call: ServerCall, index: number): IpvsChange {
  const { service, verb, added, order, deleted, others } = call;
  if (verb !== undefined && index === 0) return { do: verb, service };
  let rest = verb === undefined ? index : index - 1;
  if (rest < added.size) {
    return { do: 'addRealServer', service, realServer: plannedServer(added, order?.[rest] ?? rest) };
  }
  rest -= added.size;
  if (rest < deleted.size) {
    const realServer = { address: deleted.addressAt(rest), port: deleted.portAt(rest) };
    return { do: 'deleteRealServer', service, realServer };
  }
  return { service, ...(others[rest - deleted.size] as RealServerChange) };
}

/** The item of a failed operation. */
export function subjectOf({ key, becomes }: Operation, known: ReadonlyMap<string, Item>): Item | undefined {
  return becomes ?? known.get(key);
}

/** Applies an acknowledged operation to the known items. */
export function learn(known: Known<Item>, { key, becomes }: Operation): void {
  if (becomes) known.set(key, becomes);
  else known.delete(key);
}
