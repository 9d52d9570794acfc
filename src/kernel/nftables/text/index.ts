// The text of nft: rulesets as `nft list ruleset` prints them, to and from operations of nftables. The agent loads nothing of it but what
// prints rules.
export type { TextInput } from '../../shared/programs/textLines.js';
export { formatRuleset, formatRulesetAsync } from './formatRuleset.js';
export {
  type AllMatches,
  type Condition,
  expressionsOf,
  type Match,
  type Matches,
  type MatchRange,
  type MatchSet,
  type MatchValue,
  match,
} from './match.js';
export {
  type ParseRulesetOptions,
  parseRuleset,
  parseRulesetAsync,
  RulesetError,
  type RulesetProblem,
} from './parseRuleset.js';
export { readRuleset } from './readRuleset.js';
export type { Ruleset } from './ruleset.js';
export type { SetContent } from './sets.js';
