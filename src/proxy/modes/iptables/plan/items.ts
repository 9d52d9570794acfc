// The items of iptables mode in the kernel. Rules of Services in chains of all Services are items of their own, so that
// such a chain is never written as a whole.
import type { Chain, ChainRule, Table } from '../../../../kernel/iptables/types.js';
import type { Family } from '../../../../kernel/net/address.js';
import { equalTexts } from '../../iptablesRules/plan/describe.js';

/** A chain whose rules are written together: of one Service port, of one endpoint, or of the node. */
export interface ChainItem extends Chain {
  readonly kind: 'chain';
  /** `namespace/name`; undefined for chains of the node and for those that were only read. */
  readonly service?: string;
  /** Rules of other programs jump to it. */
  readonly foreign?: true;
  /** Whether another chain certainly has the same rules, without their texts. */
  hasSameRules?(other: ChainItem): boolean;
  /** Number of its rules, of a chain that makes their texts when they are read. */
  readonly ruleCount?: number;
}

/** A chain whose rules are items, except for its tail. */
export interface SharedChainItem extends Omit<Chain, 'rules'> {
  readonly kind: 'sharedChain';
  /** The last rules of the chain, in any order. */
  readonly tail: readonly string[];
  /** Rules of a tail that other rules follow, as read from the kernel. */
  readonly strays?: readonly string[];
  /** Other programs use the chain. */
  readonly foreign?: true;
}

/** One rule of a chain that has other rules too. */
export interface RuleItem extends ChainRule {
  readonly kind: 'rule';
  /** `namespace/name`; undefined for rules of the node and for those that were only read. */
  readonly service?: string;
  /** It is appended to the chain; by default, it is inserted at the head. */
  readonly atEnd?: true;
  /** The rules of the item that follow it, in this order: kube-proxy adds one for each time that a Service lists an address. */
  readonly next?: readonly string[];
  /** Other programs use the chain to which it jumps, or need the rule too. */
  readonly foreign?: true;
}

/** One item, desired or known. */
export type Item =
  | { readonly kind: 'sysctl'; readonly name: string; readonly value: string }
  | ChainItem
  | SharedChainItem
  | RuleItem;

/** The key of an item. Items with equal keys are the same item in the kernel, possibly with different settings. */
export function keyOf(item: Item): string {
  switch (item.kind) {
    case 'sysctl':
      return `sysctl ${item.name}`;
    case 'chain':
    case 'sharedChain':
      return chainKey(item.family, item.table, item.name);
    case 'rule':
      return `rule IPv${item.family} ${item.table}/${item.chain} ${commonPart(item)}`;
  }
}

/** The beginnings of the keys of chains. V8 keeps a key as its parts: most of them have this one and a name. */
const CHAINS: Readonly<Record<Family, Readonly<Record<Table, string>>>> = {
  4: { nat: 'chain IPv4 nat/', filter: 'chain IPv4 filter/', mangle: 'chain IPv4 mangle/' },
  6: { nat: 'chain IPv6 nat/', filter: 'chain IPv6 filter/', mangle: 'chain IPv6 mangle/' },
};

/** `chain IPv4 nat/KUBE-SERVICES`. */
export function chainKey(family: Family, table: Table, name: string): string {
  return CHAINS[family][table] + name;
}

const COMMENT = /-m comment --comment "[^"]*" /;
const TARGET = /(?:^| )-[jg] .*$/;

/**
 * The part of a rule in a shared chain that the rules of one item have in common. In KUBE-SERVICES of table nat, these are its
 * conditions: the first rule with them decides. In other chains, order has no effect, and only equal rules are one item.
 */
export function commonPart({ table, chain, text }: Pick<ChainRule, 'table' | 'chain' | 'text'>): string {
  if (table !== 'nat' || chain !== 'KUBE-SERVICES') return text;
  return text.replace(COMMENT, '').replace(TARGET, '');
}

/** Keys of the chains to which the rules of an item jump: the kernel refuses a jump to a chain that does not exist. */
export function* chainsBehind(item: Item): Generator<string> {
  if (item.kind === 'sysctl') return;
  for (const text of rulesOf(item)) {
    const name = /(?:^| )-[jg] (KUBE-\S+)/.exec(text)?.[1];
    if (name !== undefined) yield chainKey(item.family, item.table, name);
  }
}

/** The rules of an item; of a shared chain only those that are not items. */
export function rulesOf(item: Exclude<Item, { kind: 'sysctl' }>): readonly string[] {
  switch (item.kind) {
    case 'chain':
      return item.rules;
    case 'sharedChain':
      return [...(item.strays ?? []), ...item.tail];
    case 'rule':
      return textsOf(item);
  }
}

/** The number of {@link rulesOf}. */
export function ruleCountOf(item: Exclude<Item, { kind: 'sysctl' }>): number {
  return (item.kind === 'chain' ? item.ruleCount : undefined) ?? rulesOf(item).length;
}

/** The rules of a rule item, in their order. */
export function textsOf({ text, next = [] }: RuleItem): readonly string[] {
  return [text, ...next];
}

/**
 * The item with one more rule. A list of rules that follow is extended, not copied: a Service may name an address thousands of times.
 * For items that are still being made.
 */
export function withNext(item: RuleItem, text: string): RuleItem {
  if (!item.next) return { ...item, next: [text] };
  (item.next as string[]).push(text);
  return item;
}

/** The item with these rules; undefined if there are none. */
export function withTexts(item: RuleItem, texts: readonly string[]): RuleItem | undefined {
  if (equalTexts(texts, textsOf(item))) return item;
  const { next: _, ...rule } = item;
  const [text, ...next] = texts;
  return text === undefined ? undefined : { ...rule, text, ...(next.length > 0 && { next }) };
}

/** Whether a clean-up removes the item: settings are never reset, and foreign items stay. */
export function isOurs(item: Item): boolean {
  return item.kind !== 'sysctl' && !item.foreign;
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
