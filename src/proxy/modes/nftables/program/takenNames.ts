// Short names of sets of rules that other sets of the table have. Of two sets, the short names are equal once in 2^42 cases.
import type { AnonymousSet } from '../../../../kernel/nftables/expressions/types.js';
import type { NftablesOperation } from '../../../../kernel/nftables/types.js';
import { shortSetName } from '../../nftablesRules/plan/setNames.js';
import type { Result } from '../../shared/program/result.js';

/** The short names that the kernel has refused in a transaction. The sets get their whole names instead. */
export class TakenNames {
  readonly #short = new Set<string>();

  /** The name in the kernel of a set of a rule. @param name of `ownSetName` */
  readonly nameOf = (name: string): string => {
    const short = shortSetName(name);
    return this.#short.has(short) ? name : short;
  };

  /** Adds those of the operations that failed because another set has the name. Returns whether there are any. */
  learn(operations: readonly NftablesOperation[], results: readonly Result[]): boolean {
    const before = this.#short.size;
    for (const [i, result] of results.entries()) {
      if (result?.code !== 'EEXIST') continue;
      for (const { name } of ownSets(operations[i]))
        if (name !== undefined && shortSetName(name) === name) this.#short.add(name);
    }
    return this.#short.size > before;
  }
}

/** The sets that are added with a rule. */
export function ownSets(operation: NftablesOperation | undefined): AnonymousSet[] {
  if (operation?.do !== 'addRule') return [];
  return operation.rule.expressions.flatMap((expression) =>
    expression.kind === 'lookup' && typeof expression.set === 'object' ? [expression.set] : [],
  );
}
