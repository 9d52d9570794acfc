// The operations of ipvs mode, and the order in which they have to happen.
import type { IpsetOperation } from '../../kernel/ipset/types.js';
import type { IptablesOperation } from '../../kernel/iptables/types.js';
import type { IpvsOperation, IpvsTimeouts, RealServer } from '../../kernel/ipvs/types.js';
import type { RtnetlinkOperation } from '../../kernel/rtnetlink/types.js';
import { type Family, joinHostPort } from '../../net/address.js';
import type { Known } from '../mode.js';
import type { Item, VirtualServiceItem } from './items.js';

/**
 * The order. Things that refer come after what they refer to; an address comes last, because it makes traffic arrive,
 * and leaves first. Additions come before deletions: every new real server scans the kernel's trash of deleted ones.
 * Entries leave after their virtual services, and only if these are gone: the sets are the record of what is ours, and
 * outlive the process.
 */
export const ORDER = [
  'settings',
  'link',
  'sets',
  'addEntries',
  'rules',
  'addServers',
  'addAddresses',
  'deleteAddresses',
  'deleteServers',
  'deleteEntries',
  'deleteRules',
  'deleteSets',
  'deleteLink',
] as const;

/** A place in {@link ORDER}. */
export type Phase = (typeof ORDER)[number];

/** A call on one part of the kernel. */
export type KernelCall =
  | { readonly on: 'sysctl'; readonly name: string; readonly value: string }
  | { readonly on: 'timeouts'; readonly timeouts: IpvsTimeouts }
  | { readonly on: 'rtnetlink'; readonly operation: RtnetlinkOperation }
  | { readonly on: 'ipset'; readonly operation: IpsetOperation }
  | { readonly on: 'iptables'; readonly family: Family; readonly operation: IptablesOperation }
  | { readonly on: 'ipvs'; readonly operation: IpvsOperation };

/** One step: what to do, when, and what the item of the key is once it is done. */
export interface Operation {
  readonly key: string;
  readonly phase: Phase;
  readonly call: KernelCall;
  /** The item afterwards, undefined when it is gone. Real servers change within their virtual service instead. */
  readonly becomes: Item | undefined;
  /** Keys of earlier operations without whose success this one is held back; a key without any is unknown, and holds too. */
  readonly after?: readonly string[];
}

/** The item that a failed operation was about, as far as it is one that can be read again. */
export function subjectOf({ key, becomes }: Operation, known: ReadonlyMap<string, Item>): Item | undefined {
  return becomes ?? known.get(key);
}

/** Takes an acknowledged operation into what is known. */
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

/** The real servers of a known virtual service, to be changed: copied once, since a plan may share them. */
function changeable(known: Known<Item>, key: string, server: VirtualServiceItem): Map<string, RealServer> {
  if (server.changing) return server.realServers as Map<string, RealServer>;
  const realServers = new Map(server.realServers);
  known.set(key, { ...server, realServers, changing: true });
  return realServers;
}
