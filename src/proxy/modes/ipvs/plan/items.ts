// The items of ipvs mode in the kernel. Their keys use the notation of ipvsadm and ipset, so that they can be copied
// from a log line.

import type { SetDefinition, SetEntry, SetReference } from '../../../../kernel/ipset/types.js';
import { formatEntry } from '../../../../kernel/ipset/values/entry.js';
import type { Chain, ChainRule } from '../../../../kernel/iptables/types.js';
import type { AddressId, IpvsTimeouts, VirtualService } from '../../../../kernel/ipvs/types.js';
import type { RealServers } from '../../../../kernel/ipvs/values/serverLists.js';
import { type Family, familyOf, joinHostPort } from '../../../../kernel/net/address.js';
import type { AddressPorts } from '../../../../kernel/net/addressPorts.js';
import type { Protocol } from '../../../../kernel/net/protocol.js';
import type { ChainContent } from '../../nftablesRules/plan/chains.js';
import { TABLE_FAMILY } from '../../nftablesRules/plan/families.js';
import {
  TUNNEL_LINKS,
  TUNNEL_TABLE,
  type TunnelLink,
  type TunnelRoute,
  type TunnelRule,
  tunnelRouteGroup,
} from './tunnels.js';

/** The dummy link that makes virtual IPs local addresses, so that their packets reach IPVS. Its state stays down. */
export const LINK = 'kube-ipvs0';

/** A virtual service with an address, and its real servers. */
export interface VirtualServiceItem extends RealServers {
  readonly kind: 'virtualService';
  readonly service: AddressId & VirtualService;
  /** Endpoints that are not real servers and whose connections may drain. Absent if there are none. */
  readonly drainable?: AddressPorts;
  /** Endpoints whose real servers are deleted at once, with their connections, even if they are draining. Absent if there are none. */
  readonly failed?: AddressPorts;
  /** Maximum time of draining, in ms. Absent: that of the options. */
  readonly drainBound?: number;
  /** Time of a slow start, in ms: then the weights are {@link SLOW_START_STEPS} times those of the endpoints. Absent: none. */
  readonly slowStart?: number;
  /** Name of the node in whose order real servers are added ({@link orderOn}). Absent: in the order of the list. */
  readonly orderedFor?: string;
  /** The real servers with a weight above 0 are added in the order of all nodes, or were ({@link isInOrder}). Absent: in any. */
  readonly inOrder?: true;
  /**
   * Read from the kernel, and not recorded as ours or kube-proxy's. Adopted if a plan needs it, otherwise not changed.
   */
  readonly foreign?: true;
}

/** The name of the table in each family, with rules of nf_tables. */
export const TABLE = 'kube-proxy-ipvs';

/** The temporary set that is filled and then swapped with the set that it replaces. */
export const REBUILD = 'KUBE-REBUILD';

/** A set. */
export interface SetItem {
  readonly kind: 'set';
  /** The set has extensions (timeout, comments). Ours never have them. */
  readonly set: SetDefinition & { readonly extended?: true };
}

/** An entry of a set. */
export interface Entry {
  readonly kind: 'entry';
  readonly set: SetReference;
  readonly entry: SetEntry;
}

/** Traffic from the node itself to a load-balancer IP whose source ranges do not include the node: one DROP rule. */
export interface NodeDrop {
  readonly kind: 'nodeDrop';
  readonly family: Family;
  readonly address: string;
  readonly protocol: Protocol;
  readonly port: number;
}

/**
 * Traffic of pods and of the node itself to an address whose real servers are reached through tunnels goes to the cluster IP, by rules:
 * replies with that address as source would not pass the client's node, which has it too.
 */
export interface Shortcut {
  readonly kind: 'shortcut';
  readonly family: Family;
  readonly protocol: Protocol;
  readonly address: string;
  readonly port: number;
  readonly clusterIP: string;
  readonly clusterPort: number;
}

/** With rules of nf_tables: the table of a family, with its sets. */
export interface TableItem {
  readonly kind: 'table';
  readonly family: Family;
  /** Read from the kernel, and not as ours: it is deleted with all that it contains, and made anew. */
  readonly stale?: true;
}

/** With rules of nf_tables: a chain of the table with its rules. */
export interface TableChain extends ChainContent {
  readonly kind: 'tableChain';
  readonly family: Family;
  /** Table and chain of iptables: `nat/KUBE-SERVICES`. */
  readonly name: string;
}

/** One item, desired or known. */
export type Item =
  | { readonly kind: 'sysctl'; readonly name: string; readonly value: string }
  /** In s; 0 means unchanged. */
  | ({ readonly kind: 'timeouts' } & IpvsTimeouts)
  /** Foreign: its kind is not dummy; it is used unchanged. */
  | { readonly kind: 'link'; readonly name: string; readonly foreign?: true }
  | SetItem
  /** Foreign: rules of other programs jump to it. */
  | ({ readonly kind: 'chain'; readonly foreign?: true } & Chain)
  | ({ readonly kind: 'jump' } & ChainRule)
  | TableItem
  | TableChain
  | { readonly kind: 'address'; readonly address: string }
  | Entry
  | NodeDrop
  | Shortcut
  | TunnelLink
  | TunnelRule
  | TunnelRoute
  | VirtualServiceItem;

/** The key of an item. Items with equal keys are the same item in the kernel, possibly with different settings. */
export function keyOf(item: Item): string {
  switch (item.kind) {
    case 'sysctl':
    case 'link':
      return `${item.kind} ${item.name}`;
    case 'timeouts':
      return 'timeouts';
    case 'set':
      return setKey(item.set.name);
    case 'chain':
      return `chain IPv${item.family} ${item.table}/${item.name}`;
    case 'jump':
      return `jump IPv${item.family} ${item.table}/${item.chain} ${item.text}`;
    case 'table':
      return tableKey(item.family);
    case 'tableChain':
      return tableChainKey(item.family, item.name);
    case 'address':
      return `address ${item.address}`;
    case 'entry':
      return `entry ${item.set.name} ${formatEntry(item.entry)}`;
    case 'nodeDrop':
    case 'shortcut':
      return `${item.kind} ${joinHostPort(item.address, item.port)}/${item.protocol}`;
    case 'tunnelLink':
      return `link ${TUNNEL_LINKS[item.family]}`;
    case 'tunnelRule':
      return `rule IPv${item.family} ${item.from === undefined ? 'gre' : `iif ${item.from}`}`;
    case 'tunnelRoute':
      return `route local ${item.address} table ${TUNNEL_TABLE}`;
    case 'virtualService':
      return virtualServiceKey(item.service);
  }
}

/** The key of a set. */
export function setKey(name: string): string {
  return `set ${name}`;
}

/** `table ip kube-proxy-ipvs`. */
export function tableKey(family: Family): string {
  return `table ${TABLE_FAMILY[family]} ${TABLE}`;
}

/** `chain ip kube-proxy-ipvs nat/KUBE-SERVICES`. */
export function tableChainKey(family: Family, name: string): string {
  return `chain ${TABLE_FAMILY[family]} ${TABLE} ${name}`;
}

/** The key of kube-ipvs0. */
export const LINK_KEY = `link ${LINK}`;

/** `virtual service 10.96.0.10:53/udp`. */
export function virtualServiceKey(id: AddressId): string {
  return `virtual service ${joinHostPort(id.address, id.port)}/${id.protocol}`;
}

/** The group of an item: one for the entries of each set, and for each family one for nodeDrops, shortcuts, and routes of tunnels. */
export function groupOf(item: Item): string | undefined {
  if (item.kind === 'entry') return item.set.name;
  if (item.kind === 'nodeDrop') return nodeDropGroup(item.family);
  if (item.kind === 'shortcut') return shortcutGroup(item.family);
  return item.kind === 'tunnelRoute' ? tunnelRouteGroup(familyOf(item.address)) : undefined;
}

/** The group of a family's shortcuts. */
export function shortcutGroup(family: Family): string {
  return `shortcut ${family}`;
}

/** The group of a family's nodeDrops. */
export function nodeDropGroup(family: Family): string {
  return `nodeDrop ${family}`;
}

/** Whether a group contains items that are rules of a chain: nodeDrops, or shortcuts. */
export function isRuleGroup(group: string): boolean {
  return group.startsWith('nodeDrop ') || group.startsWith('shortcut ');
}

/** Whether a clean-up removes the item: settings are never reset, and foreign items stay. */
export function isOurs(item: Item): boolean {
  if (item.kind === 'sysctl' || item.kind === 'timeouts') return false;
  return !('foreign' in item && item.foreign);
}

/** Whether a clean-up leaves the chain because a rule of another program jumps to it. */
export function isUsed(item: Item): boolean {
  return item.kind === 'chain' && item.foreign === true;
}

/** Items by key. */
export function itemMap(items: Iterable<Item>): Map<string, Item> {
  const map = new Map<string, Item>();
  for (const item of items) map.set(keyOf(item), item);
  return map;
}
