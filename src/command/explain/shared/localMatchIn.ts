// The detector of local traffic that programmed rules show.
import type { LocalMatch } from '../../../proxy/modes/shared/plan/localDetector.js';
import type { Rule } from '../packet/ruleText.js';

/**
 * The local traffic that a rule matches: `-s NETWORK` or `-i LINK`. Undefined if it has neither.
 *
 * @param negated the rule matches all other traffic: `! -s NETWORK`
 */
export function localMatchIn({ conditions }: Rule, negated: boolean): LocalMatch | undefined {
  const value = (option: string) =>
    conditions.find((condition) => condition.option === option && condition.negated === negated)?.values[0];
  const [network, link] = [value('-s'), value('-i')];
  if (network !== undefined) return { network };
  return link === undefined ? undefined : { interface: link };
}
