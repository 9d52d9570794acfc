// Reads the tables of nftables mode: one listing of each family that has one. Changes nothing.
import { openNftables } from '../../kernel/nftables/index.js';
import type { Nftables, NftSet } from '../../kernel/nftables/types.js';
import { TABLE_FAMILY } from '../../modes/nftables/plan/containers.js';
import { TABLE } from '../../modes/nftables/plan/names.js';
import type { Family } from '../../net/address.js';
import type { ProgrammedFrontend } from '../inventory.js';
import { frontendsIn } from '../nftables/inventory.js';
import { type ProgrammedTable, type SetWithElements, tableOf } from '../nftables/table.js';

type Client = Pick<Nftables, 'listTables' | 'listChains' | 'listRules' | 'listSets' | 'listElements'>;

/** The frontends of both families. Rejects with a NetlinkError if a table cannot be read. */
export async function listFrontends(): Promise<ProgrammedFrontend[]> {
  const nftables = await openNftables();
  try {
    return await readFrontends(nftables);
  } finally {
    await nftables.close();
  }
}

/** As {@link listFrontends}, with an open client. */
export async function readFrontends(nftables: Client): Promise<ProgrammedFrontend[]> {
  const found: ProgrammedFrontend[] = [];
  for (const family of [4, 6] as const) {
    const table = await readTable(nftables, family);
    if (table) found.push(...frontendsIn(family, table));
  }
  return found;
}

/** The table of a family; undefined if there is none. Rejects with a NetlinkError if it cannot be read. */
export async function readTable(nftables: Client, family: Family): Promise<ProgrammedTable | undefined> {
  const where = { family: TABLE_FAMILY[family], table: TABLE };
  const tables = await nftables.listTables({ family: where.family }).toArray();
  if (!tables.some(({ name }) => name === TABLE)) return undefined;
  const chains = await nftables.listChains(where).toArray();
  const rules = await nftables.listRules(where).toArray();
  const sets: SetWithElements[] = [];
  for (const set of await nftables.listSets(where).toArray()) {
    sets.push({ set, elements: await nftables.listElements(asBytes(set)).toArray() });
  }
  return tableOf(chains, rules, sets);
}

/** A type of one value, of which the library knows no name: the elements have bytes, and intervals their ends. */
const NO_TYPE = 0;

/** The set, without the types of its keys and data. */
function asBytes({ family, table, name, key, flags }: NftSet) {
  return { family, table, name, flags, ...(Array.isArray(key) ? {} : { key: NO_TYPE }) };
}
