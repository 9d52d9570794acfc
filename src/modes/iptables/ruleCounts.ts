// Numbers of our rules in the kernel, for kube-proxy's metrics: as last read, with the changes since then. No pass walks all
// rules. Changes by other programs count when the rules are read again: in retries, audits and full passes.
import type { SavedRules, Table } from '../../kernel/iptables/types.js';
import type { Family } from '../../net/address.js';
import type { Mode, RuleCount } from '../mode.js';
import { splitChainId } from '../shared/iptables/targets.js';
import { BLOCK_LOCALNET, FIREWALL, isOwnChain } from './fixedChains.js';
import { createIptablesMode } from './index.js';
import { type Item, rulesOf } from './items.js';
import type { IptablesKernel } from './kernel.js';
import type { Operation } from './operations.js';
import type { IptablesOptions } from './options.js';

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
  const mode = createIptablesMode({ ...kernel, iptables: countingReads(kernel.iptables, total) }, options);
  return {
    mode: {
      ...mode,
      learn(known, operation) {
        const before = known.get(operation.key);
        mode.learn(known, operation);
        const after = known.get(operation.key);
        total.add(before, -sizeOf(before));
        total.add(after, sizeOf(after));
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

/** Each reading of a family replaces its counts: no operation is under way meanwhile. */
function countingReads(iptables: IptablesKernel['iptables'], total: Counts): IptablesKernel['iptables'] {
  return {
    async save(family) {
      const saved = await iptables.save(family);
      total.setFamily(family, saved);
      return saved;
    },
    saveTables: (family) => iptables.saveTables(family),
    listRules: (family, table, chain) => iptables.listRules(family, table, chain),
    restore: (family, operations) => iptables.restore(family, operations),
  };
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

  /** The counts of a family are those of its rules that were read. */
  setFamily(family: Family, saved: SavedRules): void {
    for (const table of TABLES) this.#counts.delete(`${family} ${table}`);
    for (const id of saved.keys()) {
      const [table, name] = splitChainId(id) as [Table, string];
      if (table === 'filter' && name === FIREWALL) {
        const rules = family === 4 ? (saved.get(id) ?? []) : [];
        this.#add(family, table, rules.filter((rule) => rule === BLOCK_LOCALNET.text).length);
      } else if (isOwnChain(table, name)) {
        this.#add(family, table, saved.count?.(id) ?? saved.get(id)?.length ?? 0);
      }
    }
  }

  #add(family: Family, table: Table, count: number): void {
    if (count !== 0) this.#counts.set(`${family} ${table}`, this.get(family, table) + count);
  }
}

/** Number of its rules that are in our chains. */
function sizeOf(item: Item | undefined): number {
  if (item === undefined || item.kind === 'sysctl') return 0;
  if (item.kind === 'rule' && !item.chain.startsWith('KUBE-')) return 0;
  return rulesOf(item).length;
}

/** Number of rules in our chains that an operation writes. */
function writtenBy({ call }: Operation): number {
  if (call.on === 'sysctl') return 0;
  const { operation } = call;
  switch (operation.do) {
    case 'setChain':
      return operation.chain.rules.length;
    case 'appendRule':
    case 'insertRule':
      return operation.rule.chain.startsWith('KUBE-') ? 1 : 0;
    case 'replaceRules':
      return operation.rules.after.length;
    default:
      return 0;
  }
}
