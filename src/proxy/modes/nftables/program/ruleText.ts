// Rules of the mode as nft prints them.
import type { Family } from '../../../../kernel/net/address.js';
import type { Rule } from '../../nftablesRules/plan/expressions.js';
import { type PrintedTable, ruleText as textOf } from '../../nftablesRules/program/ruleText.js';
import { setNamed } from '../plan/containers.js';
import { TABLE } from '../plan/names.js';

/** The table of a family, to print its rules. */
export function printedTable(family: Family): PrintedTable {
  return { family, name: TABLE, setNamed: (name) => setNamed(family, name) };
}

/** A rule of a family with its comment: `goto service-…/http comment "short-circuit local traffic"`. */
export function ruleText(family: Family, rule: Rule): string {
  return textOf(printedTable(family), rule);
}
