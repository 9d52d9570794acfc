// The operations of ipvs mode, and their order.
import type { IpsetOperation } from '../../kernel/ipset/types.js';
import type { IptablesOperation } from '../../kernel/iptables/types.js';
import type { AddressId, IpvsTimeouts, RealServer, RealServerId } from '../../kernel/ipvs/types.js';
import type { RtnetlinkOperation } from '../../kernel/rtnetlink/types.js';
import { type Family, joinHostPort } from '../../net/address.js';
import type { Known } from '../mode.js';
import type { Item, VirtualServiceItem } from './items.js';

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

/** A change of a virtual service or a real server, with all settings. */
export type ServerOperation =
  | { readonly do: 'addService' | 'updateService'; readonly service: VirtualServiceItem['service'] }
  | { readonly do: 'deleteService'; readonly service: AddressId }
  | {
      readonly do: 'addRealServer' | 'updateRealServer';
      readonly service: AddressId;
      readonly realServer: RealServer;
    }
  | { readonly do: 'deleteRealServer'; readonly service: AddressId; readonly realServer: RealServerId };

/** A call on one part of the kernel. */
export type KernelCall =
  | { readonly on: 'sysctl'; readonly name: string; readonly value: string }
  | { readonly on: 'timeouts'; readonly timeouts: IpvsTimeouts }
  | { readonly on: 'rtnetlink'; readonly operation: RtnetlinkOperation }
  | { readonly on: 'ipset'; readonly operation: IpsetOperation }
  | { readonly on: 'iptables'; readonly family: Family; readonly operation: IptablesOperation }
  | { readonly on: 'ipvs'; readonly operation: ServerOperation };

/** One operation: its call, its phase, and the resulting item of the key. */
export interface Operation {
  readonly key: string;
  readonly phase: Phase;
  readonly call: KernelCall;
  /** The item afterwards; undefined if it is removed. For an operation on a real server, its virtual service. */
  readonly becomes: Item | undefined;
  /** Keys whose earlier operations must succeed, otherwise this one is held back. Also if a key has no operation. */
  readonly after?: readonly string[];
}

/** The item of a failed operation. */
export function subjectOf({ key, becomes }: Operation, known: ReadonlyMap<string, Item>): Item | undefined {
  return becomes ?? known.get(key);
}

/** Applies an acknowledged operation to the known items. */
export function learn(known: Known<Item>, { key, call, becomes }: Operation): void {
  if (call.on !== 'ipvs' || !('realServer' in call.operation)) {
    if (becomes) known.set(key, becomes);
    else known.delete(key);
    return;
  }
  const server = known.get(key) as VirtualServiceItem | undefined;
  if (!server) return;
  const { operation } = call;
  const realServers = changeable(known, key, server);
  const id = joinHostPort(operation.realServer.address, operation.realServer.port);
  if (operation.do === 'deleteRealServer') realServers.delete(id);
  else realServers.set(id, operation.realServer);
}

/** The real servers of a known virtual service, for changes. Copied once, because a plan may share them. */
function changeable(known: Known<Item>, key: string, server: VirtualServiceItem): Map<string, RealServer> {
  if (server.changing) return server.realServers as Map<string, RealServer>;
  const realServers = new Map(server.realServers);
  known.set(key, { ...server, realServers, changing: true });
  return realServers;
}
