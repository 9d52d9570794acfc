// Numbers of our rules in the kernel, for kube-proxy's metrics: as last read, with the changes since then. No pass walks all
// rules. Changes by other programs count when the rules are read again: in retries, audits and full passes.
import type { Iptables, SavedChain, Table } from '../../../kernel/iptables/types.js';
import type { Family } from '../../../kernel/net/address.js';
import { createIptablesMode } from '../../../proxy/modes/iptables/index.js';
import { BLOCK_LOCALNET, FIREWALL, isOwnChain } from '../../../proxy/modes/iptables/plan/fixedChains.js';
import { type Item, ruleCountOf } from '../../../proxy/modes/iptables/plan/items.js';
import type { Operation } from '../../../proxy/modes/iptables/plan/operations.js';
import type { IptablesOptions } from '../../../proxy/modes/iptables/plan/options.js';
import type { IptablesKernel } from '../../../proxy/modes/iptables/program/kernel.js';
import type { Mode, RuleCount } from '../../../proxy/modes/mode.js';

const TABLES = ['filter', 'nat'] as const;

/** The mode with counted rules. */
export interface CountedMode {
  readonly mode: Mode<Item, Operation>;
  /** The counts of each table of the families. Those of the written rules begin again at 0. */
  take(): RuleCount[];
}

/** Creates iptables mode, and counts the rules that it reads and writes. As in kube-proxy, rules in built-in chains do not count. */
export function createCountedMode(kernel: IptablesKernel, options: IptablesOptions): CountedMode {
  const total = new Counts();
  let written = new Counts();
  const iptables = new CountedReads(kernel.iptables, total);
  const mode = createIptablesMode({ ...kernel, iptables }, options);
  return {
    mode: {
      ...mode,
      acknowledged(operation, before) {
        const after = operation.becomes;
        iptables.add(before, -sizeOf(before));
        iptables.add(after, sizeOf(after));
        written.add(after, writtenBy(operation));
      },
    },
    take() {
      const result = options.families.flatMap((family) =>
        TABLES.map((table) => ({
          family,
          table,
          total: total.get(family, table),
          written: written.get(family, table),
        })),
      );
      written = new Counts();
      return result;
    },
  };
}

/** Each reading of a family replaces its counts. */
class CountedReads implements Pick<Iptables, 'chains' | 'save' | 'saveTables' | 'listRules' | 'restore'> {
  readonly #iptables: IptablesKernel['iptables'];
  readonly #total: Counts;
  /** The reading under way: operations between two of its pieces count after its tables have begun. */
  #reading: Counts | undefined;

  constructor(iptables: IptablesKernel['iptables'], total: Counts) {
    this.#iptables = iptables;
    this.#total = total;
  }

  /** Adds a number of rules of an item, as an operation changed it. */
  add(item: Item | undefined, count: number): void {
    this.#total.add(item, count);
    this.#reading?.addBegun(item, count);
  }

  async *chains(family: Family) {
    const reading = new Counts();
    this.#reading = reading;
    try {
      for await (const piece of this.#iptables.chains(family)) {
        for (const chain of piece) reading.addChain(family, chain);
        yield piece;
      }
      this.#total.replace(family, reading);
    } finally {
      if (this.#reading === reading) this.#reading = undefined;
    }
  }

  save(family: Family) {
    return this.#iptables.save(family);
  }

  saveTables(family: Family) {
    return this.#iptables.saveTables(family);
  }

  listRules(family: Family, table: Table, chain: string) {
    return this.#iptables.listRules(family, table, chain);
  }

  restore(family: Family, operations: Parameters<Iptables['restore']>[1]) {
    return this.#iptables.restore(family, operations);
  }
}

/** Rules by family and table. */
class Counts {
  readonly #counts = new Map<string, number>();

  get(family: Family, table: Table): number {
    return this.#counts.get(`${family} ${table}`) ?? 0;
  }

  /** Adds a number of rules of an item. */
  add(item: Item | undefined, count: number): void {
    if (item && item.kind !== 'sysctl') this.#add(item.family, item.table, count);
  }

  /** The same for a table of which chains have been added. */
  addBegun(item: Item | undefined, count: number): void {
    if (item && item.kind !== 'sysctl' && this.#counts.has(`${item.family} ${item.table}`))
      this.add(item, count);
  }

  /** Adds the rules of a chain that count. */
  addChain(family: Family, { table, name, rules }: SavedChain): void {
    if (table === 'filter' && name === FIREWALL) {
      const own = family === 4 ? rules.filter((rule) => rule === BLOCK_LOCALNET.text) : [];
      this.#add(family, table, own.length);
    } else if (isOwnChain(table, name)) {
      this.#add(family, table, rules.length);
    }
  }

  /** The counts of a family become those of its rules that were read. */
  replace(family: Family, read: Counts): void {
    for (const table of TABLES) {
      this.#counts.delete(`${family} ${table}`);
      this.#add(family, table, read.get(family, table));
    }
  }

  #add(family: Family, table: string, count: number): void {
    const place = `${family} ${table}`;
    this.#counts.set(place, (this.#counts.get(place) ?? 0) + count);
  }
}

/** Number of its rules that are in our chains. */
function sizeOf(item: Item | undefined): number {
  if (item === undefined || item.kind === 'sysctl') return 0;
  if (item.kind !== 'rule') return ruleCountOf(item);
  return item.chain.startsWith('KUBE-') ? 1 + (item.next?.length ?? 0) : 0;
}

/** Number of rules in our chains that an operation writes. */
function writtenBy({ call, becomes }: Operation): number {
  if (call.on === 'sysctl') return 0;
  const { operation } = call;
  switch (operation.do) {
    case 'setChain':
      return becomes?.kind === 'chain' ? ruleCountOf(becomes) : operation.chain.rules.length;
    case 'appendRule':
    case 'insertRule':
      return operation.rule.chain.startsWith('KUBE-') ? 1 : 0;
    case 'replaceRules':
      return operation.rules.after.length;
    default:
      return 0;
  }
}
