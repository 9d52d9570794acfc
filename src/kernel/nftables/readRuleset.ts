// The whole ruleset of a network namespace, as of one moment.
import { NetlinkError } from '../../errors.js';
import type { CallOptions } from '../shared/types.js';
import type { Ruleset } from './text/ruleset.js';
import type { NameInTable, Nftables, NftSet, SetShape } from './types.js';

/** How often the ruleset is read when it changes meanwhile. */
const ATTEMPTS = 5;

/**
 * Reads all tables with their contents. If the ruleset changes meanwhile, they are read again, at most five times in all: then it rejects
 * with NetlinkError `ERR_INTERRUPTED`.
 */
export async function readRuleset(
  nftables: Pick<
    Nftables,
    'generation' | 'listTables' | 'listChains' | 'listRules' | 'listSets' | 'listElements' | 'listObjects'
  >,
  options: CallOptions = {},
): Promise<Ruleset> {
  const operation = 'nftables.readRuleset';
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await nftables.generation(options);
    try {
      const ruleset = await read(nftables, options);
      const after = await nftables.generation(options);
      if (after.id === before.id) return ruleset;
    } catch (error) {
      const { id } = await nftables.generation(options);
      if (id === before.id) throw error; // a set that is gone was deleted by a change
    }
  }
  const kernelMessage = `the ruleset changed during each of ${ATTEMPTS} attempts to read it`;
  throw new NetlinkError({ code: 'ERR_INTERRUPTED', operation, kernelMessage });
}

async function read(nftables: Parameters<typeof readRuleset>[0], options: CallOptions): Promise<Ruleset> {
  const tables = await nftables.listTables({}, options).toArray();
  const chains = await nftables.listChains({}, options).toArray();
  const rules = await nftables.listRules({}, options).toArray();
  const objects = await nftables.listObjects({}, options).toArray();
  const sets: Ruleset['sets'][number][] = [];
  for (const set of await nftables.listSets({}, options).toArray()) {
    sets.push({ set, elements: await nftables.listElements(shapeOf(set), options).toArray() });
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
