// Our items among the rules of a family, while iptables-save prints them.
import type { Iptables, SavedChain, Table } from '../../../../kernel/iptables/types.js';
import type { Family } from '../../../../kernel/net/address.js';
import { ForeignTargets } from '../../iptablesRules/plan/targets.js';
import {
  BLOCK_LOCALNET,
  FIREWALL,
  hasTail,
  isOwnChain,
  isTail,
  jumps,
  NODE_CHAINS,
  SHARED_CHAINS,
} from '../plan/fixedChains.js';
import {
  type ChainItem,
  chainKey,
  commonPart,
  type Item,
  type RuleItem,
  type SharedChainItem,
  withNext,
  withTexts,
} from '../plan/items.js';
import { isPerService } from '../plan/names.js';

/**
 * The items of a family, in pieces, in no certain order. An item may come twice: the second one is right. It is marked as foreign
 * because of rules that were read after the first one.
 *
 * @param isWanted whether the chain of a Service with this key is wanted; by default, all are
 */
export async function* observeRules(
  family: Family,
  iptables: Pick<Iptables, 'chains'>,
  isWanted: (key: string) => boolean = () => true,
): AsyncGenerator<readonly Item[]> {
  const reading = new RulesReading(family, isWanted);
  for await (const piece of iptables.chains(family)) yield piece.flatMap((chain) => reading.itemsOf(chain));
  yield reading.end();
  const late = reading.markedTooLate();
  if (late.size === 0) return;
  // Their rules are not in memory any more. Programs that jump to the chain of a Service are rare.
  for await (const piece of iptables.chains(family)) {
    const found = piece.filter(({ table, name }) => table === 'nat' && late.has(name));
    yield found.map((chain) => chainItem(family, chain, { foreign: true }));
  }
}

/** One reading of the rules of a family. */
class RulesReading {
  readonly #family: Family;
  readonly #isWanted: (key: string) => boolean;
  readonly #jumps: { readonly jump: RuleItem; texts: readonly string[] }[];
  /** Chains that a clean-up must not delete: those to which rules of other programs jump. */
  readonly #targets: ForeignTargets;
  /** Chains of the node and shared ones, until all rules have been read. */
  readonly #held: (ChainItem | SharedChainItem)[] = [];
  /** Names of chains of Services that were marked as foreign. */
  readonly #marked = new Set<string>();
  /** KUBE-FIREWALL has rules: kubelet's, or those that protect loopback addresses, which no mode removes. */
  #keepsFirewall = false;

  constructor(family: Family, isWanted: (key: string) => boolean) {
    this.#family = family;
    this.#isWanted = isWanted;
    this.#jumps = jumps(family).map((jump) => ({ jump: { kind: 'rule', ...jump }, texts: [] }));
    this.#targets = new ForeignTargets(isOwnChain, new Set(jumps(family).map(({ text }) => text)));
  }

  /** The items of a chain that do not depend on other chains. */
  itemsOf(chain: SavedChain): readonly Item[] {
    const { table, name, rules } = chain;
    if (isPerService(table, name)) return this.#ofService(chain);
    this.#targets.add(chain);
    for (const own of this.#jumps)
      if (own.jump.table === table && own.jump.chain === name)
        own.texts = rules.filter((rule) => rule === own.jump.text);
    if (isShared(table, name)) return this.#sharedItems(chain);
    if (NODE_CHAINS[table as Table]?.includes(name)) this.#held.push(chainItem(this.#family, chain));
    return [];
  }

  /** The other items. */
  end(): Item[] {
    const items: Item[] = this.#held.map((item) =>
      this.#isForeign(item.table, item.name) ? { ...item, foreign: true } : item,
    );
    // The rules to a foreign KUBE-FIREWALL are foreign too: kubelet inserts the same ones.
    const kubelet = this.#isForeign('filter', FIREWALL);
    for (const { jump, texts } of this.#jumps) {
      const marked = kubelet && jump.text.endsWith(FIREWALL) ? ({ foreign: true } as const) : {};
      const item = withTexts({ ...jump, ...marked }, texts);
      if (item) items.push(item);
    }
    return items;
  }

  /** Names of chains of Services to which a rule jumps that was read after them. */
  markedTooLate(): ReadonlySet<string> {
    const late = new Set<string>();
    for (const name of this.#targets.in('nat')) {
      const mayBe = isPerService('nat', name) && !this.#marked.has(name);
      if (mayBe && this.#isWanted(chainKey(this.#family, 'nat', name))) late.add(name);
    }
    return late;
  }

  #isForeign(table: Table, name: string): boolean {
    return this.#targets.has(table, name) || (name === FIREWALL && this.#keepsFirewall);
  }

  #ofService(chain: SavedChain): readonly Item[] {
    const { table, name } = chain;
    if (!this.#isWanted(chainKey(this.#family, table as Table, name))) return [];
    if (!this.#targets.has(table, name)) return [chainItem(this.#family, chain)];
    this.#marked.add(name);
    return [chainItem(this.#family, chain, { foreign: true })];
  }

  /** The rules of a shared chain. In KUBE-FIREWALL, only one rule may be ours, or kubelet's: it is never deleted. */
  #sharedItems({ table, name, rules }: SavedChain): readonly Item[] {
    const where = { family: this.#family, table: table as Table };
    const { tail, strays, rest } = splitTail(hasTail(where.table, name), rules);
    this.#held.push({ kind: 'sharedChain', ...where, name, tail, ...(strays.length > 0 && { strays }) });
    if (name === FIREWALL) this.#keepsFirewall = rules.length > 0;
    const groups = new Map<string, RuleItem>();
    const kept = name === FIREWALL ? ({ foreign: true } as const) : {};
    for (const text of rest) {
      if (name === FIREWALL && (this.#family === 6 || text !== BLOCK_LOCALNET.text)) continue;
      const common = commonPart({ table: where.table, chain: name, text });
      const first = groups.get(common);
      const item: RuleItem = { kind: 'rule', ...where, chain: name, text, ...kept };
      groups.set(common, first ? withNext(first, text) : item);
    }
    return [...groups.values()];
  }
}

function chainItem(
  family: Family,
  { table, name, rules }: SavedChain,
  marked: { readonly foreign?: true } = {},
): ChainItem {
  return { kind: 'chain', family, table: table as Table, name, ...marked, rules };
}

function isShared(table: string, name: string): boolean {
  return SHARED_CHAINS[table as Table]?.includes(name) || (table === 'filter' && name === FIREWALL);
}

/** The last rules of a chain that belong to its tail, each once; the same kind of rules before others; and the rest. */
function splitTail(has: boolean, rules: readonly string[]) {
  if (!has) return { tail: [], strays: [], rest: rules };
  const lastOther = rules.findLastIndex((rule) => !isTail(rule));
  const last = rules.slice(lastOther + 1);
  const tail = new Set<string>();
  const repeated: string[] = [];
  for (const rule of last) {
    if (tail.has(rule)) repeated.push(rule);
    tail.add(rule);
  }
  const before = rules.slice(0, lastOther + 1);
  return {
    tail: [...tail],
    strays: [...before.filter(isTail), ...repeated],
    rest: before.filter((rule) => !isTail(rule)),
  };
}
