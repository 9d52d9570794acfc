// Reads what the text has: all tables with what is in them.
import { NetlinkError } from '../../errors.js';
import { checkObject } from '../../shared/arguments.js';
import type { CallOptions } from '../../shared/types.js';
import { described } from '../names.js';
import { checkFilter } from '../requests.js';
import type { Nftables, TableFilter } from '../types.js';
import type { Ruleset } from './ruleset.js';
import type { SetContent } from './sets.js';

/** Readings of the ruleset, if it changes during each. */
const MOST_READINGS = 10;

/**
 * All tables, or those of the filter, with what is in them, as one transaction left them: {@link formatRuleset} prints them. Rejects with
 * NetlinkError `ERR_INTERRUPTED` when the ruleset changed during each of ten readings, and as the listings do.
 */
export async function readRuleset(
  nftables: Nftables,
  filter: TableFilter = {},
  options?: CallOptions,
): Promise<Ruleset> {
  const operation = 'nftables.readRuleset';
  checkObject(operation, 'nftables', nftables);
  checkFilter(operation, filter);
  for (let reading = 0; reading < MOST_READINGS; reading++) {
    const before = await nftables.generation(options);
    const read = await readOnce(nftables, filter, options).catch((error: unknown) => error as Error);
    const after = await nftables.generation(options);
    if (before.id !== after.id) continue; // also if a set was deleted before its elements were listed
    if (read instanceof Error) throw read;
    return read;
  }
  const target = described(filter.family, filter.table);
  throw new NetlinkError({ code: 'ERR_INTERRUPTED', operation, target });
}

/** One reading, during which the ruleset may change. */
async function readOnce(nftables: Nftables, filter: TableFilter, options?: CallOptions): Promise<Ruleset> {
  const { table, ...family } = filter;
  const tables = await nftables.listTables(family, options).toArray();
  const chains = await nftables.listChains(filter, options).toArray();
  const rules = await nftables.listRules(filter, options).toArray();
  const objects = await nftables.listObjects(filter, options).toArray();
  const flowTables = await nftables.listFlowTables(filter, options).toArray();
  const sets: SetContent[] = [];
  for (const set of await nftables.listSets(filter, options).toArray())
    sets.push({ set, elements: await nftables.listElements(set, options).toArray() });
  const named = tables.filter(({ name }) => table === undefined || name === table);
  return { tables: named, chains, rules, sets, objects, flowTables };
}
