// A ruleset → the text of nft, after a check of what a program gives. Pure.
import { checkRuleset } from './rulesetArguments.js';
import { type Ruleset, formatRuleset as textOf } from './text/ruleset.js';

/**
 * The text that `nft list ruleset` prints for these tables and what is in them (nft 1.0.6): what {@link Nftables} lists, or objects with
 * the fields of a listing. A set of a rule, of which the listing has the name, is among `sets`; one that is in its `lookup` need not be. What
 * has no notation here is in brackets: `[xt match]`. Nothing is looked up on this machine: users, protocols and links are numbers, or have
 * the names of `links`.
 *
 * Throws a TypeError or RangeError that names the object and the field for what breaks a rule of {@link Nftables.apply}:
 * `rules[2].expressions[0].register`.
 *
 * It blocks the event loop for several ms for each 1000 rules or elements.
 */
export function formatRuleset(ruleset: Ruleset): string {
  checkRuleset('nftables.formatRuleset', ruleset);
  return textOf(ruleset);
}
