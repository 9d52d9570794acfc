// Reads our items from the kernel.
import type { NftSet } from '../../../kernel/nftables/types.js';
import type { Family } from '../../../net/address.js';
import { CONTAINERS, TABLE_FAMILY } from '../plan/containers.js';
import { type Item, keyOf, type TableItem } from '../plan/items.js';
import { TABLE } from '../plan/names.js';
import type { NftablesOptions } from '../plan/options.js';
import type { NftablesKernel } from './kernel.js';
import { elementItem, isStaleSet, isStaleTable, setItem } from './readItems.js';
import { chainsOf } from './readRules.js';

/** Maximum items in a piece. */
const PIECE = 256;

type Client = NftablesKernel['nftables'];

/** Our items, in pieces, in no certain order. @param whole see {@link OwnSets} */
export async function* observe(
  { nftables }: NftablesKernel,
  { families }: Pick<NftablesOptions, 'families'>,
  whole: boolean,
): AsyncGenerator<ReadonlyMap<string, Item>> {
  for (const family of families) {
    let piece = new Map<string, Item>();
    for await (const item of itemsOf(nftables, family, whole)) {
      piece.set(keyOf(item), item);
      if (piece.size < PIECE) continue;
      yield piece;
      piece = new Map();
    }
    if (piece.size > 0) yield piece;
  }
}

async function* itemsOf(nftables: Client, family: Family, whole: boolean): AsyncGenerator<Item> {
  const { table, sets } = await readTable(nftables, family);
  if (!table) return;
  yield table;
  if (table.stale) return;
  const own = new Map<string, NftSet>();
  const names = new Set<string>();
  for (const set of sets) {
    const item = setItem(family, set);
    if (item) yield item;
    else if (set.anonymous) own.set(set.name, set);
    names.add(set.name);
  }
  yield* chainsOf(nftables, family, { sets: own, whole });
  for (const container of Object.values(CONTAINERS[family])) {
    if (!names.has(container.name)) continue;
    const set = { ...container, family: TABLE_FAMILY[family], table: TABLE };
    for await (const element of nftables.listElements(set)) yield elementItem(container, element);
  }
}

/** A table of ours with its sets. */
export interface ReadTable {
  /** Undefined if there is none. */
  readonly table: TableItem | undefined;
  readonly sets: readonly NftSet[];
}

/** The table of a family. It is stale if it has a set of another type than ours of the same name: nothing else of it counts. */
export async function readTable(
  nftables: Pick<Client, 'listTables' | 'listSets'>,
  family: Family,
): Promise<ReadTable> {
  const where = { family: TABLE_FAMILY[family], table: TABLE };
  const tables = await nftables.listTables({ family: where.family }).toArray();
  const found = tables.find(({ name }) => name === TABLE);
  if (!found) return { table: undefined, sets: [] };
  const sets = await nftables.listSets(where).toArray();
  const stale = isStaleTable(found) || sets.some((set) => isStaleSet(family, set));
  return { table: { kind: 'table', family, ...(stale && { stale }) }, sets };
}
