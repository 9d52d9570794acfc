// The ruleset that a transaction makes, as the kernel would list it. Sets of rules remain in their rules.
import type { Element, NewElement, NftablesOperation } from '../../../src/kernel/nftables/index.js';
import type { Ruleset } from '../../../src/kernel/nftables/text/index.js';
import { layoutOf } from '../../../src/kernel/nftables/values/valueTypes.js';

/** Of operations that add. */
export function rulesetOf(operations: readonly NftablesOperation[]): Ruleset {
  const listed = { handle: 1n, use: 0 } as const;
  const ruleset = {
    tables: [] as Ruleset['tables'][number][],
    chains: [] as Ruleset['chains'][number][],
    rules: [] as Ruleset['rules'][number][],
    sets: [] as { set: Ruleset['sets'][number]['set']; elements: Element[] }[],
    objects: [] as Ruleset['objects'][number][],
  };
  for (const operation of operations) {
    switch (operation.do) {
      case 'addTable':
        ruleset.tables.push({ flags: [], ...operation.table, ...listed });
        break;
      case 'addChain':
        ruleset.chains.push({ ...operation.chain, ...listed });
        break;
      case 'addRule':
        ruleset.rules.push({ ...operation.rule, handle: 1n });
        break;
      case 'addObject':
        ruleset.objects.push({ ...operation.object, ...listed });
        break;
      case 'addSet': {
        const set = {
          flags: [],
          ...operation.set,
          keyLength: layoutOf(operation.set.key).length,
          handle: 1n,
        };
        ruleset.sets.push({ set, elements: [] });
        break;
      }
      case 'addElements': {
        const { table, family, name } = operation.set;
        const found = ruleset.sets.find(
          ({ set }) => set.name === name && set.table === table && set.family === family,
        );
        // The text of nft becomes objects, never bytes.
        found?.elements.push(...(operation.elements as readonly NewElement[]));
        break;
      }
      default:
        throw new Error(`${operation.do} adds nothing`);
    }
  }
  return ruleset;
}
