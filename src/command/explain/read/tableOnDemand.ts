// The table of nftables mode, of which only what a question looks at is read: what it looks at in vain is read, and it is asked again.

import type { Family } from '../../../kernel/net/address.js';
import { ruleText } from '../../../kernel/nftables/text/print/rule.js';
import type { Element, Nftables, NftSet, Rule, SetName } from '../../../kernel/nftables/types.js';
import { bytesOf } from '../../../kernel/nftables/values/values.js';
import { NODE_CHAINS } from '../../../proxy/modes/nftables/plan/fixedChains.js';
import { TABLE } from '../../../proxy/modes/nftables/plan/names.js';
import { TABLE_FAMILY } from '../../../proxy/modes/nftablesRules/plan/families.js';
import { FRONTEND_MAPS, type FrontendKey, frontendElements, keyOf } from '../nftables/frontendKeys.js';
import {
  bytesOfKey,
  keyText,
  type ProgrammedChain,
  type ProgrammedSet,
  type ProgrammedTable,
  setOf,
} from '../nftables/table.js';

/** The part of nftables that reads it. */
export type TableReader = Pick<
  Nftables,
  'getTable' | 'getChain' | 'listRules' | 'getSet' | 'getElements' | 'listElements'
>;

/** What was read, by name; notes what was asked for and has not been read. */
class Wanted<Value> extends Map<string, Value> {
  /** Was read, and does not exist. */
  readonly #absent = new Set<string>();
  readonly #missing = new Set<string>();

  override get(name: string): Value | undefined {
    this.want(name);
    return super.get(name);
  }

  override has(name: string): boolean {
    this.want(name);
    return super.has(name);
  }

  want(name: string): void {
    if (!super.has(name) && !this.#absent.has(name)) this.#missing.add(name);
  }

  /** What is missing since the last call. Each name counts as absent unless it is set afterwards. */
  take(): string[] {
    const names = [...this.#missing];
    this.#missing.clear();
    for (const name of names) this.#absent.add(name);
    return names;
  }

  get isComplete(): boolean {
    return this.#missing.size === 0;
  }
}

/** A set whose elements are looked up one by one. */
interface KeyedSet extends ProgrammedSet {
  readonly set: NftSet & SetName;
  readonly elements: Element[];
  readonly single: Wanted<Element>;
}

/** The rules of the mode name links by their names. */
const NO_LINKS = new Map<number, string>();

/** The sets with elements of all frontends. */
const WITH_FRONTENDS: ReadonlySet<string> = new Set([...FRONTEND_MAPS, 'cluster-ips', 'firewall-ips']);

/** Reads a table of a family. */
export class TableOnDemand {
  readonly #nftables: TableReader;
  readonly #where: { readonly family: 'ip' | 'ip6'; readonly table: string };
  readonly #chains = new Wanted<ProgrammedChain>();
  readonly #sets = new Wanted<ProgrammedSet>();
  readonly #keyed = new Map<string, KeyedSet>();
  readonly #texts = new Map<Rule, string>();

  /** Questions are about all frontends. */
  readonly #isWhole: boolean;

  private constructor(nftables: TableReader, family: Family, isWhole: boolean) {
    this.#nftables = nftables;
    this.#isWhole = isWhole;
    this.#where = { family: TABLE_FAMILY[family], table: TABLE };
  }

  /**
   * Opens the table; undefined if there is none. Rejects with a NetlinkError.
   *
   * @param keys the frontends that questions are about; undefined for all
   */
  static async open(
    nftables: TableReader,
    family: Family,
    keys: readonly FrontendKey[] | undefined,
  ): Promise<TableOnDemand | undefined> {
    const table = new TableOnDemand(nftables, family, keys === undefined);
    if (!(await nftables.getTable({ family: table.#where.family, name: TABLE }))) return undefined;
    for (const name of NODE_CHAINS) table.#chains.want(name);
    await table.#readFrontends(keys);
    return table;
  }

  /** The answer of a question that reads the table. Rejects with what it throws, and with a NetlinkError. */
  async ask<Answer>(question: (table: ProgrammedTable) => Answer): Promise<Answer> {
    const table = { chains: this.#chains, sets: this.#sets, textOf: (rule: Rule) => this.#textOf(rule) };
    for (;;) {
      await this.#readMissing();
      try {
        const answer = question(table);
        if (this.#isComplete) return answer;
      } catch (error) {
        if (this.#isComplete) throw error;
      }
    }
  }

  get #isComplete(): boolean {
    return (
      this.#chains.isComplete &&
      this.#sets.isComplete &&
      [...this.#keyed.values()].every(({ single }) => single.isComplete)
    );
  }

  async #readMissing(): Promise<void> {
    while (!this.#isComplete) {
      // The text of a rule has the elements of its sets.
      this.#texts.clear();
      for (const name of this.#chains.take()) await this.#readChain(name);
      for (const name of this.#sets.take()) await this.#readSet(name);
      for (const set of this.#keyed.values()) await this.#readElements(set);
    }
  }

  async #readChain(name: string): Promise<void> {
    const found = await this.#nftables.getChain({ ...this.#where, name });
    if (!found) return;
    const rules = await this.#nftables.listRules({ ...this.#where, chain: name }).toArray();
    this.#chains.set(name, { ...(found.base && { base: found.base }), rules });
  }

  async #readSet(name: string): Promise<void> {
    const set = await this.#nftables.getSet({ ...this.#where, name });
    if (!set) return;
    if (isKeyed(set) && !(this.#isWhole && WITH_FRONTENDS.has(name))) {
      const keyed: KeyedSet = { set, elements: [], single: new Wanted<Element>(), intervals: [] };
      this.#keyed.set(name, keyed);
      this.#sets.set(name, keyed);
      return;
    }
    // Packets fill it: no rule finds anything in it for a new client.
    const filled = set.flags.includes('dynamic');
    const elements = filled ? [] : await this.#nftables.listElements(set).toArray();
    this.#sets.set(name, setOf({ set, elements }));
  }

  async #readElements({ set, single, elements }: KeyedSet): Promise<void> {
    const keys = single.take();
    if (keys.length === 0) return;
    const names = keys.map((key) => ({ key: Buffer.from(key, 'latin1') }));
    for (const element of await this.#nftables.getElements(set, names)) {
      elements.push(element);
      single.set(keyText(bytesOfKey(set, element)), element);
    }
  }

  /** The elements of these frontends; all elements of the maps if none of them exists. */
  async #readFrontends(keys: readonly FrontendKey[] = []): Promise<void> {
    for (const name of FRONTEND_MAPS) this.#sets.want(name);
    await this.#readMissing();
    for (const name of FRONTEND_MAPS) {
      const keyed = this.#keyed.get(name);
      for (const key of keyed ? keys : []) {
        const parts = keyOf(name, key);
        if (parts) keyed?.single.want(keyText(bytesOf(keyed.set.key, parts)));
      }
    }
    await this.#readMissing();
    if (keys.length === 0 || !frontendElements({ sets: this.#sets }).next().done) return;
    for (const name of FRONTEND_MAPS) {
      const { set } = this.#keyed.get(name) ?? {};
      if (!set) continue;
      this.#keyed.delete(name);
      this.#sets.set(name, setOf({ set, elements: await this.#nftables.listElements(set).toArray() }));
    }
  }

  #textOf(rule: Rule): string {
    const text =
      this.#texts.get(rule) ?? ruleText(rule, { find: (name) => this.#sets.get(name), links: NO_LINKS });
    this.#texts.set(rule, text);
    return text;
  }
}

/** Whether elements are looked up by their keys: those of anonymous sets belong to one rule, and the addresses of the node are few. */
function isKeyed(set: NftSet): set is NftSet & SetName {
  const { name, key, flags } = set;
  const others = ['constant', 'interval', 'dynamic'] as const;
  return typeof key !== 'number' && name !== 'nodeport-ips' && !others.some((flag) => flags.includes(flag));
}
