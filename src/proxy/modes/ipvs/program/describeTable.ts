// Changes of the table of nf_tables as a readable diff.
import type { Family } from '../../../../kernel/net/address.js';
import type { Known } from '../../mode.js';
import { type PrintedTable, ruleLines } from '../../nftablesRules/program/ruleText.js';
import { type Item, TABLE } from '../plan/items.js';
import type { Operation, TableChange } from '../plan/operations.js';
import { TABLE_SETS } from '../plan/table.js';

/** The lines for an operation: `+` adds, `-` removes, `~` changes. Elements are written as the entries of ipsets. */
export function describeTable(key: string, { do: verb, item }: TableChange, known: Known<Item>): string[][] {
  const before = known.get(key);
  const sign = verb === 'delete' ? '-' : before ? '~' : '+';
  const lines = [`${sign} ${key}`];
  if (item.kind !== 'tableChain' || verb === 'delete') return [lines];
  const rules = before?.kind === 'tableChain' ? before.rules : [];
  return [[...lines, ...ruleLines(printedTable(item.family), rules, item.rules)]];
}

/** The lines of an operation on the table; undefined for others. */
export function describeInTable({ key, call }: Operation, known: Known<Item>): string[][] | undefined {
  return call.on === 'nftables' ? describeTable(key, call.change, known) : undefined;
}

/** The table of a family, to print its rules. */
export function printedTable(family: Family): PrintedTable {
  return { family, name: TABLE, setNamed: (name) => TABLE_SETS[family].get(name) };
}
