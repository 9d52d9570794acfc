// Numbers of our rules in the kernel, for kube-proxy's metrics. They are running counts: no pass walks all rules.
import type { Table } from '../../kernel/iptables/types.js';
import type { Family } from '../../net/address.js';
import type { Mode, RuleCount } from '../mode.js';
import type { Item } from './items.js';
import type { Operation } from './operations.js';

const TABLES = ['filter', 'nat'] as const;

/** Rules by family and table. */
type Counts = Map<string, number>;

/** The mode with counted rules. */
export interface CountedMode {
  readonly mode: Mode<Item, Operation>;
  /** The counts of each table of the families. Those of the written rules begin again at 0. */
  take(): RuleCount[];
}

/** Counts the rules that a mode observes and writes. As in kube-proxy, rules in built-in chains do not count. */
export function countingRules(mode: Mode<Item, Operation>, families: readonly Family[]): CountedMode {
  let total: Counts = new Map();
  let written: Counts = new Map();
  /** Those of the observation under way. */
  let observed: Counts | undefined;
  return {
    mode: {
      ...mode,
      learn(known, operation) {
        const before = known.get(operation.key);
        mode.learn(known, operation);
        const after = known.get(operation.key);
        for (const counts of observed ? [total, observed] : [total]) {
          add(counts, before, -1);
          add(counts, after, 1);
        }
        add(written, after, 1);
      },
      async *observe() {
        const counts: Counts = new Map();
        observed = counts;
        try {
          for await (const piece of mode.observe()) {
            for (const item of piece.values()) add(counts, item, 1);
            yield piece;
          }
          total = counts;
        } finally {
          if (observed === counts) observed = undefined;
        }
      },
    },
    take() {
      const result = families.flatMap((family) =>
        TABLES.map((table) => ({
          family,
          table,
          total: total.get(key(family, table)) ?? 0,
          written: written.get(key(family, table)) ?? 0,
        })),
      );
      written = new Map();
      return result;
    },
  };
}

function add(counts: Counts, item: Item | undefined, sign: 1 | -1): void {
  const size = sizeOf(item);
  if (item === undefined || item.kind === 'sysctl' || size === 0) return;
  const place = key(item.family, item.table);
  counts.set(place, (counts.get(place) ?? 0) + sign * size);
}

/** Number of its rules that are in our chains. */
function sizeOf(item: Item | undefined): number {
  switch (item?.kind) {
    case 'chain':
      return item.rules.length;
    case 'sharedChain':
      return item.tail.length + (item.strays?.length ?? 0);
    case 'rule':
      return item.chain.startsWith('KUBE-') ? 1 + (item.next?.length ?? 0) : 0;
    default:
      return 0;
  }
}

function key(family: Family, table: Table): string {
  return `${family} ${table}`;
}
