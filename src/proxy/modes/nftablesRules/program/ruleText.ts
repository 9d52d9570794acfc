// Rules as nft prints them.

import type { Family } from '../../../../kernel/net/address.js';
import { ruleText as textOfExpressions } from '../../../../kernel/nftables/text/print/rule.js';
import type { SetContent } from '../../../../kernel/nftables/text/sets.js';
import type { SetShape } from '../../../../kernel/nftables/types.js';
import type { Rule } from '../plan/expressions.js';
import { TABLE_FAMILY } from '../plan/families.js';
import { sameRule } from '../plan/sameRules.js';

const NO_LINKS = new Map<number, string>();

/** The table of a mode in a family, and its sets by name. */
export interface PrintedTable {
  readonly family: Family;
  readonly name: string;
  setNamed(name: string): SetShape | undefined;
}

/** A rule of a table with its comment: `goto service-…/http comment "short-circuit local traffic"`. */
export function ruleText(table: PrintedTable, { expressions, comment }: Rule): string {
  const find = (name: string) => contentOf(table, name);
  const family = TABLE_FAMILY[table.family];
  const text = textOfExpressions({ family, expressions }, { find, links: NO_LINKS });
  if (comment === undefined) return text;
  return [text, `comment "${comment}"`].filter((part) => part !== '').join(' ');
}

/** A set of the mode without its elements: the text of a look-up in it depends on its types only. */
function contentOf({ family, name: table, setNamed }: PrintedTable, name: string): SetContent | undefined {
  const set = setNamed(name);
  if (!set) return undefined;
  const { key, data, flags = [] } = set;
  const named = { family: TABLE_FAMILY[family], table, name, key, flags, keyLength: 0, handle: 0n };
  return { set: { ...named, ...(data !== undefined && { data }) }, elements: [] };
}

/** The lines of a readable diff for the rules of a chain: those that go, and those that come. */
export function ruleLines(table: PrintedTable, before: readonly Rule[], after: readonly Rule[]): string[] {
  const lines = (mark: string, some: readonly Rule[], others: readonly Rule[]) =>
    some
      .filter((rule) => !others.some((other) => sameRule(rule, other)))
      .map((rule) => `    ${mark} ${ruleText(table, rule)}`);
  return [...lines('-', before, after), ...lines('+', after, before)];
}
