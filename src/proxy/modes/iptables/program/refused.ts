// Recognizes the item that has a refused rule.
import type { NetlinkError } from '../../../../kernel/errors.js';
import { refusedRule } from '../../../../kernel/iptables/results.js';
import type { RefusedPart } from '../../mode.js';
import { type Item, rulesOf } from '../plan/items.js';

/** The rule that was refused with the error. Undefined if the error names none. */
export function refusedBy(error: NetlinkError): RefusedPart<Item> | undefined {
  const refused = refusedRule(error);
  if (refused === undefined) return undefined;
  const { family, chain, text } = refused;
  return {
    isIn(item) {
      if (item.kind === 'sysctl' || item.family !== family) return false;
      return (item.kind === 'rule' ? item.chain : item.name) === chain && rulesOf(item).includes(text);
    },
  };
}
