// The whole ruleset of a network namespace.
import type { NameInTable, Nftables, NftSet, SetShape } from '../../../src/kernel/nftables/index.js';
import type { Ruleset } from '../../../src/kernel/nftables/text/ruleset.js';

/** Reads all tables with their contents. */
export async function readRuleset(nftables: Nftables): Promise<Ruleset> {
  const tables = await nftables.listTables().toArray();
  const chains = await nftables.listChains().toArray();
  const rules = await nftables.listRules().toArray();
  const objects = await nftables.listObjects().toArray();
  const sets: Ruleset['sets'][number][] = [];
  for (const set of await nftables.listSets().toArray()) {
    sets.push({ set, elements: await nftables.listElements(shapeOf(set)).toArray() });
  }
  return { tables, chains, rules, sets, objects };
}

/** The set by name, with the types that this library knows: values of others are bytes. */
function shapeOf({ family, table, name, key, data, flags }: NftSet): NameInTable & Partial<SetShape> {
  return {
    family,
    table,
    name,
    flags,
    ...(typeof key === 'number' ? {} : { key }),
    ...(data === undefined || typeof data === 'number' ? {} : { data }),
  };
}
