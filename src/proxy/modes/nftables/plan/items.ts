// The items of nftables mode in the kernel. Their keys use the notation of nft, so that they can be copied from a log line. A chain is
// one item with its rules, which are written together. Elements of shared sets and maps are items of their own, so that such a set is
// never written as a whole.

import type { Family } from '../../../../kernel/net/address.js';
import type { BaseChain } from '../../../../kernel/nftables/types.js';
import type { Rule } from '../../nftablesRules/plan/expressions.js';
import { TABLE_FAMILY } from '../../nftablesRules/plan/families.js';
import { CONTAINERS, type Container, type ContainerName, containerNamed } from './containers.js';
import { FLOW_TABLE, TABLE } from './names.js';

/** The mode's table in a family. */
export interface TableItem {
  readonly kind: 'table';
  readonly family: Family;
  /**
   * Read from the kernel, with a set of another type than ours of the same name, or with a flag: it is deleted with all that it contains, and
   * made anew.
   */
  readonly stale?: true;
}

/** A set of the clients of an endpoint, or one of the {@link CONTAINERS}. */
export interface SetItem {
  readonly kind: 'set';
  readonly family: Family;
  readonly name: string;
  /** Of the clients of an endpoint: the timeout of an element since the last connection, in s. */
  readonly timeout?: number;
  /** `namespace/name`; undefined for sets of the node and for those that were only read. */
  readonly service?: string;
}

/** A counter of packets to which rules refer by its name. What it has counted is not part of it. */
export interface CounterItem {
  readonly kind: 'counter';
  readonly family: Family;
  readonly name: string;
}

/** The flow table, see {@link FLOW_TABLE}. */
export interface FlowTableItem {
  readonly kind: 'flowtable';
  readonly family: Family;
}

/** A link whose packets the flow table takes. */
export interface DeviceItem {
  readonly kind: 'device';
  readonly family: Family;
  /** Of the link. */
  readonly name: string;
}

/** A chain with its rules. */
export interface ChainItem {
  readonly kind: 'chain';
  readonly family: Family;
  readonly name: string;
  /** Absent: packets come by `jump` and `goto` only. */
  readonly base?: BaseChain;
  readonly comment?: string;
  /** `namespace/name`; undefined for chains of the node and for those that were only read. */
  readonly service?: string | undefined;
  readonly rules: readonly Rule[];
  /** Whether another chain has the same rules, if that is certain without making them; undefined: the rules decide. */
  hasSameRules?(other: ChainItem): boolean | undefined;
}

/** An element of a container. */
export class ElementItem {
  /** The key of the item; its end is the key of the element. */
  readonly key: string;
  readonly container: Container;
  /**
   * What an element of a verdict map does: the name of the chain to which it goes, or `drop`. Read from the kernel also another verdict as
   * text, such as `jump chain`. Empty in a set.
   */
  readonly verdict: string;
  readonly comment: string | undefined;
  /** `namespace/name`; undefined for elements of the node and for those that were only read. */
  readonly service: string | undefined;

  /** @param text key of the element, see {@link keyText} */
  constructor(container: Container, text: string, verdict = '', comment?: string, service?: string) {
    this.key = elementKey(container, text);
    this.container = container;
    this.verdict = verdict;
    this.comment = comment;
    this.service = service;
  }

  get kind() {
    return 'element' as const;
  }

  get family(): Family {
    return this.container.family;
  }

  /** The key of the element: `10.96.0.1 . tcp . 443`. */
  get text(): string {
    return this.key.slice(PREFIXES[this.container.family][this.container.name].length);
  }
}

/** One item, desired or known. */
export type Item = TableItem | SetItem | CounterItem | FlowTableItem | DeviceItem | ChainItem | ElementItem;

/** The key of an item. Items with equal keys are the same item in the kernel, possibly with different settings. */
export function keyOf(item: Item): string {
  switch (item.kind) {
    case 'table':
      return tableKey(item.family);
    case 'set':
      return setKey(item.family, item.name);
    case 'counter':
      return counterKey(item.family, item.name);
    case 'flowtable':
      return flowTableKey(item.family);
    case 'device':
      return deviceKey(item.family, item.name);
    case 'chain':
      return chainKey(item.family, item.name);
    case 'element':
      return item.key;
  }
}

/** `table ip kube-proxy`. */
export function tableKey(family: Family): string {
  return `table ${TABLE_FAMILY[family]} ${TABLE}`;
}

/** The beginnings of the keys of chains. V8 keeps such a key as its parts, of which the name has been kept already. */
const CHAIN_PREFIX = { 4: 'chain ip kube-proxy ', 6: 'chain ip6 kube-proxy ' } as const;
const SET_PREFIX = { 4: 'set ip kube-proxy ', 6: 'set ip6 kube-proxy ' } as const;

/** `chain ip kube-proxy services`. */
export function chainKey(family: Family, name: string): string {
  return CHAIN_PREFIX[family] + name;
}

/** `set ip kube-proxy cluster-ips`. */
export function setKey(family: Family, name: string): string {
  return SET_PREFIX[family] + name;
}

/** `counter ip kube-proxy localhost-nodeport-rejected-udp`. */
export function counterKey(family: Family, name: string): string {
  return `counter ${TABLE_FAMILY[family]} ${TABLE} ${name}`;
}

/** `flowtable ip kube-proxy services`. */
export function flowTableKey(family: Family): string {
  return `flowtable ${TABLE_FAMILY[family]} ${TABLE} ${FLOW_TABLE}`;
}

/** `device ip kube-proxy services eth0`. */
export function deviceKey(family: Family, link: string): string {
  return `device ${TABLE_FAMILY[family]} ${TABLE} ${FLOW_TABLE} ${link}`;
}

function prefixesOf(family: Family): Readonly<Record<ContainerName, string>> {
  const entries = Object.keys(CONTAINERS[family]).map((name) => [
    name,
    `element ${TABLE_FAMILY[family]} kube-proxy ${name} `,
  ]);
  return Object.fromEntries(entries);
}

/** The beginnings of the keys of elements. */
const PREFIXES = { 4: prefixesOf(4), 6: prefixesOf(6) } as const;

/** Where the item of a key is. */
type PlaceOfKey = { readonly family: Family } & (
  | { readonly kind: 'table' | 'flowtable' | 'device' }
  | { readonly kind: 'set' | 'counter' | 'chain'; readonly name: string }
  | { readonly kind: 'element'; readonly container: ContainerName; readonly text: string }
);

/** The place of the item with a key; undefined for other texts. */
export function placeOfKey(key: string): PlaceOfKey | undefined {
  const [, kind, ip, rest = ''] =
    /^(table|set|counter|flowtable|device|chain|element) (ip6?) kube-proxy(?: (.+))?$/.exec(key) ?? [];
  const family = ip === TABLE_FAMILY[6] ? 6 : 4;
  switch (kind) {
    case 'table':
    case 'flowtable':
    case 'device':
      return { kind, family };
    case 'set':
    case 'counter':
    case 'chain':
      return { kind, family, name: rest };
    case 'element': {
      const end = rest.indexOf(' ');
      const container = containerNamed(family, rest.slice(0, end));
      return container && { kind, family, container: container.name, text: rest.slice(end + 1) };
    }
    default:
      return undefined;
  }
}

/** `element ip kube-proxy service-ips 10.96.0.1 . tcp . 443`. One text: join() adds none from parts. */
export function elementKey({ family, name }: Container, text: string): string {
  return [PREFIXES[family][name], text].join('');
}

/** The verdict of an element as nft prints it. */
export function verdictText(verdict: string): string {
  return verdict === 'drop' || verdict.includes(' ') ? verdict : `goto ${verdict}`;
}

/** Items by key. */
export function itemMap(items: Iterable<Item>): Map<string, Item> {
  const map = new Map<string, Item>();
  for (const item of items) map.set(keyOf(item), item);
  return map;
}
