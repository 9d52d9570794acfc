// Everything ipvs mode keeps in a kernel, as items with a key each. Keys are the tools' own notation, so that a log line
// can be pasted into ipvsadm or ipset.
import { formatEntry } from '../../kernel/ipset/entry.js';
import type { SetDefinition, SetEntry, SetReference } from '../../kernel/ipset/types.js';
import type { Chain, Jump } from '../../kernel/iptables/types.js';
import type { AddressId, IpvsTimeouts, RealServer, VirtualService } from '../../kernel/ipvs/types.js';
import { type Family, joinHostPort } from '../../net/address.js';
import type { Protocol } from '../../net/protocol.js';

/** The dummy device that makes virtual IPs local addresses, so that routing hands their packets to IPVS. Never set up. */
export const LINK = 'kube-ipvs0';

/** A virtual service dialled by address, with its real servers by `address:port`. */
export interface VirtualServiceItem {
  readonly kind: 'virtualService';
  readonly service: AddressId & VirtualService;
  readonly realServers: ReadonlyMap<string, RealServer>;
  /** Endpoints that are no real servers and whose connections may end by themselves, by `address:port`. Absent when none. */
  readonly drainable?: ReadonlySet<string>;
  /** Observed, and nothing shows that we or a kube-proxy made it: adopted when a plan wants it, else never touched. */
  readonly foreign?: true;
  /** Known, and not yet as planned: its real servers are shared with no plan. */
  readonly changing?: true;
}

/** The set in which another is built anew before the two are swapped. */
export const REBUILD = 'KUBE-REBUILD';

/** A set. */
export interface SetItem {
  readonly kind: 'set';
  /** Observed sets may have extensions (a timeout, comments), which ours never have. */
  readonly set: SetDefinition & { readonly extended?: true };
}

/** An entry of a set. */
export interface Entry {
  readonly kind: 'entry';
  readonly set: SetReference;
  readonly entry: SetEntry;
}

/** Traffic from the node itself to a load-balancer IP that its source ranges leave out: it becomes one rule of text. */
export interface NodeDrop {
  readonly kind: 'nodeDrop';
  readonly family: Family;
  readonly address: string;
  readonly protocol: Protocol;
  readonly port: number;
}

/** One thing that the kernel should hold, or holds. */
export type Item =
  | { readonly kind: 'sysctl'; readonly name: string; readonly value: string }
  /** Seconds; 0 means whatever the kernel has. */
  | ({ readonly kind: 'timeouts' } & IpvsTimeouts)
  /** Foreign: of another kind than dummy, made by somebody else; used as it is. */
  | { readonly kind: 'link'; readonly name: string; readonly foreign?: true }
  | SetItem
  /** Foreign: rules of others jump to it. */
  | ({ readonly kind: 'chain'; readonly foreign?: true } & Chain)
  | ({ readonly kind: 'jump' } & Jump)
  /** Foreign: excluded from deletion by configuration. */
  | { readonly kind: 'address'; readonly address: string; readonly foreign?: true }
  | Entry
  | NodeDrop
  | VirtualServiceItem;

/** The key of an item: equal keys mean the same thing in the kernel, perhaps with other settings. */
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
      return `chain ${item.family} ${item.table}/${item.name}`;
    case 'jump':
      return `jump ${item.family} ${item.table}/${item.from} ${item.rule}`;
    case 'address':
      return `address ${item.address}`;
    case 'entry':
      return `entry ${item.set.name} ${formatEntry(item.entry)}`;
    case 'nodeDrop':
      return `nodeDrop ${joinHostPort(item.address, item.port)}/${item.protocol}`;
    case 'virtualService':
      return virtualServiceKey(item.service);
  }
}

/** The key of a set. */
export function setKey(name: string): string {
  return `set ${name}`;
}

/** The key of our device. */
export const LINK_KEY = `link ${LINK}`;

/** `virtual service 10.96.0.10:53/udp`. */
export function virtualServiceKey(id: AddressId): string {
  return `virtual service ${joinHostPort(id.address, id.port)}/${id.protocol}`;
}

/** What items are counted by: the entries of each set, and the rules that nodeDrops become. */
export function groupOf(item: Item): string | undefined {
  if (item.kind === 'entry') return item.set.name;
  return item.kind === 'nodeDrop' ? nodeDropGroup(item.family) : undefined;
}

/** The group of a family's nodeDrops. */
export function nodeDropGroup(family: Family): string {
  return `nodeDrop ${family}`;
}

/** Whether a group is one of nodeDrops. */
export function isNodeDropGroup(group: string): boolean {
  return group.startsWith('nodeDrop ');
}

/** Whether an observed item would not be there without us; settings are only ever set, and foreign things left alone. */
export function isOurs(item: Item): boolean {
  if (item.kind === 'sysctl' || item.kind === 'timeouts') return false;
  return !('foreign' in item && item.foreign);
}

/** Items by key. */
export function itemMap(items: Iterable<Item>): Map<string, Item> {
  const map = new Map<string, Item>();
  for (const item of items) map.set(keyOf(item), item);
  return map;
}
