// Rules as nft prints them.

import type { Family } from '../../../../kernel/net/address.js';
import { ruleText as textOfExpressions } from '../../../../kernel/nftables/text/print/rule.js';
import type { SetContent } from '../../../../kernel/nftables/text/sets.js';
import type { Rule } from '../../nftablesRules/plan/expressions.js';
import { TABLE_FAMILY } from '../../nftablesRules/plan/families.js';
import { setNamed } from '../plan/containers.js';
import { TABLE } from '../plan/names.js';

const NO_LINKS = new Map<number, string>();

/** A rule of a family with its comment: `goto service-…/http comment "short-circuit local traffic"`. */
export function ruleText(family: Family, { expressions, comment }: Rule): string {
  const find = (name: string) => contentOf(family, name);
  const text = textOfExpressions({ family: TABLE_FAMILY[family], expressions }, { find, links: NO_LINKS });
  if (comment === undefined) return text;
  return [text, `comment "${comment}"`].filter((part) => part !== '').join(' ');
}

/** A set of the mode without its elements: the text of a look-up in it depends on its types only. */
function contentOf(family: Family, name: string): SetContent | undefined {
  const set = setNamed(family, name);
  if (!set) return undefined;
  const { key, data, flags = [] } = set;
  const named = { family: TABLE_FAMILY[family], table: TABLE, name, key, flags, keyLength: 0, handle: 0n };
  return { set: { ...named, ...(data !== undefined && { data }) }, elements: [] };
}
