// A ruleset → the text of nft, after a check of what a program gives. Pure.

import { inPieces } from '../../shared/programs/textLines.js';
import { atOnce } from '../../steps.js';
import { type Ruleset, rulesetLines, formatRuleset as textOf } from './ruleset.js';
import { checkRuleset } from './rulesetArguments.js';

/**
 * The text that `nft list ruleset` prints for these tables and what is in them (nft 1.0.6; fields that it has no name for as nft 1.1.7): what
 * {@link readRuleset} reads, or objects with the fields of a listing. A set of a rule, of which the listing has the name, is among `sets`;
 * one that is in its `lookup` need not be. What has no notation here is in brackets: `[xt match]`. Nothing is looked up on this machine:
 * users, protocols and links are numbers, or have the names of `links`.
 *
 * Throws a TypeError or RangeError that names the object and the field for what breaks a rule of `Nftables.apply`:
 * `rules[2].expressions[0].register`.
 *
 * It blocks the event loop for several ms for each 1000 rules or elements: {@link formatRulesetAsync} is for many.
 */
export function formatRuleset(ruleset: Ruleset): string {
  atOnce(checkRuleset('nftables.formatRuleset', ruleset));
  return textOf(ruleset);
}

/**
 * The text of {@link formatRuleset} in pieces of about 64 KiB, each of whole lines, written in time slices of 2 ms, between which other
 * callbacks of the event loop run. A rule whose `lookup` has the set itself is checked in one slice, however many elements that has. Throws as
 * {@link formatRuleset} does, before the first piece. The ruleset must not change until the last piece.
 */
export function formatRulesetAsync(ruleset: Ruleset): AsyncGenerator<string, void, undefined> {
  return inPieces(groupsOf(ruleset));
}

/** The steps of the check, which make no line, and the lines. */
async function* groupsOf(ruleset: Ruleset): AsyncGenerator<Iterable<string | undefined>, void, undefined> {
  yield checkRuleset('nftables.formatRulesetAsync', ruleset);
  yield rulesetLines(ruleset);
}
