// Rules as nft prints them.
import type { AnonymousSet, Expression } from '../../../kernel/nftables/expressions/types.js';
import { ruleText as textOfExpressions } from '../../../kernel/nftables/text/rules.js';
import type { SetContent } from '../../../kernel/nftables/text/sets.js';
import type { NftSet, SetShape } from '../../../kernel/nftables/types.js';
import type { Family } from '../../../net/address.js';
import { setNamed, TABLE_FAMILY } from '../plan/containers.js';
import { TABLE } from '../plan/names.js';
import type { Rule } from '../plan/rules.js';

const NO_LINKS = new Map<number, string>();

/** A rule of a family with its comment: `goto service-…/http comment "short-circuit local traffic"`. */
export function ruleText(family: Family, { expressions, comment }: Rule): string {
  const own = new Map<string, SetContent>();
  const named = expressions.map((expression, place): Expression => {
    if (expression.kind !== 'lookup' || typeof expression.set === 'string') return expression;
    const name = `__${place}`;
    own.set(name, { set: listed(family, name, expression.set, true), elements: expression.set.elements });
    return { ...expression, set: name };
  });
  const find = (name: string) => own.get(name) ?? contentOf(family, name);
  const rule = { family: TABLE_FAMILY[family], expressions: named };
  const text = textOfExpressions(rule, { find, links: NO_LINKS });
  if (comment === undefined) return text;
  return [text, `comment "${comment}"`].filter((part) => part !== '').join(' ');
}

/** A set of the mode without its elements: the text of a look-up in it depends on its types only. */
function contentOf(family: Family, name: string): SetContent | undefined {
  const set = setNamed(family, name);
  return set && { set: listed(family, name, set), elements: [] };
}

/** A set as the kernel would list it. */
function listed(family: Family, name: string, shape: SetShape | AnonymousSet, anonymous = false): NftSet {
  const { key, data, flags = [] } = shape;
  return {
    family: TABLE_FAMILY[family],
    table: TABLE,
    name,
    key,
    ...(data !== undefined && { data }),
    flags,
    keyLength: 0,
    ...(anonymous && { anonymous }),
    handle: 0n,
  };
}
