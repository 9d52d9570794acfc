// Reads the table of nf_tables of a family.
import type { Family } from '../../../../kernel/net/address.js';
import type {
  Chain,
  Element,
  ElementName,
  Rule as KernelRule,
  NftSet,
  SetName,
  Table,
} from '../../../../kernel/nftables/types.js';
import type { Rule } from '../../nftablesRules/plan/expressions.js';
import { TABLE_FAMILY } from '../../nftablesRules/plan/families.js';
import type { TablePart } from '../plan/compareTable.js';
import { type Item, keyOf, TABLE, type TableChain } from '../plan/items.js';
import {
  type ElementItem,
  elementsOf,
  isElement,
  itemOfElement,
  SHORTCUTS,
  TABLE_SETS,
} from '../plan/table.js';
import type { IpvsKernel, TablesKernel } from './kernel.js';

type Client = TablesKernel['nftables'];

/**
 * The items of a table, in lists. A table with a set or an element that ours never has is stale: then it is its only item, because it is deleted with
 * all that it contains.
 *
 * @param foreign takes the chains that are not ours
 */
export async function* observeTable(
  nftables: Client,
  family: Family,
  foreign?: IpvsKernel['foreignChains'],
): AsyncGenerator<readonly Item[]> {
  foreign?.take(family, []);
  const table = await readTable(nftables, family);
  if (!table) return;
  const lists = table.stale ? undefined : await readElements(nftables, family);
  if (!lists) {
    yield [{ ...table, stale: true }];
    return;
  }
  yield [table];
  yield* lists;
  yield await readChains(nftables, family, foreign);
}

/** The items that are elements of its sets; undefined if one of them is not ours. */
async function readElements(nftables: Client, family: Family): Promise<ElementItem[][] | undefined> {
  const lists: ElementItem[][] = [];
  let shortcuts: readonly Element[] = [];
  for (const [name, set] of TABLE_SETS[family]) {
    const found = await nftables.listElements(set).toArray();
    if (name === SHORTCUTS) {
      shortcuts = found;
      continue;
    }
    const items = found.flatMap((element) => itemOfElement(family, name, element) ?? []);
    if (items.length < found.length) return undefined;
    lists.push(items);
  }
  const keysOf = (elements: Iterable<{ readonly key: unknown }>) =>
    [...elements].map(({ key }) => String(key)).sort();
  const own = lists.flat().filter(({ kind }) => kind === 'shortcut');
  const wanted = own.flatMap(elementsOf).filter(({ set }) => set.name === SHORTCUTS);
  const isSame = keysOf(shortcuts).join() === keysOf(wanted.map(({ element }) => element)).join();
  return isSame ? lists : undefined;
}

/** The table, with its sets, without their elements. */
async function readTable(
  nftables: Client,
  family: Family,
): Promise<Extract<Item, { kind: 'table' }> | undefined> {
  const where = { family: TABLE_FAMILY[family], table: TABLE };
  const table = await nftables.getTable({ family: where.family, name: TABLE });
  if (!table) return undefined;
  const sets = await nftables.listSets(where).toArray();
  const isStale = isForeign(table) || !hasOurSets(family, sets);
  return { kind: 'table', family, ...(isStale && { stale: true }) };
}

/** Ours has no flags, and no program owns it. */
function isForeign({ flags, owner }: Table): boolean {
  return flags.length > 0 || owner !== undefined;
}

function hasOurSets(family: Family, sets: readonly NftSet[]): boolean {
  const byName = new Map(sets.map((set) => [set.name, set]));
  return [...TABLE_SETS[family]].every(([name, want]) => {
    const have = byName.get(name);
    return have !== undefined && shapeText(have) === shapeText(want);
  });
}

function shapeText({ key, data, flags = [] }: Pick<NftSet, 'key' | 'data'> & Partial<NftSet>): string {
  return JSON.stringify([key, data ?? null, flags]);
}

/** The names of our chains: other programs may have added some to the table, which stay. */
function isOurs({ name }: Pick<Chain, 'name'>): boolean {
  return name.startsWith('nat/') || name.startsWith('filter/');
}

async function readChains(
  nftables: Client,
  family: Family,
  foreign?: IpvsKernel['foreignChains'],
): Promise<TableChain[]> {
  const where = { family: TABLE_FAMILY[family], table: TABLE };
  const all = await nftables.listChains(where).toArray();
  const chains = all.filter(isOurs);
  foreign?.take(
    family,
    all.filter((chain) => !isOurs(chain)),
  );
  const rules = new Map<string, Rule[]>(chains.map(({ name }) => [name, []]));
  for await (const each of nftables.listRules(where)) rules.get(each.chain)?.push(ruleOf(each));
  return chains.map(({ name, base }) => ({
    kind: 'tableChain',
    family,
    name,
    ...(base && { base }),
    rules: rules.get(name) ?? [],
  }));
}

/** A rule with attributes that the library does not read differs from each of ours. */
function ruleOf({ expressions, comment, attributes }: KernelRule): Rule {
  const more = attributes?.length
    ? [{ kind: 'unknown', name: 'attributes', data: new Uint8Array() } as const]
    : [];
  return { expressions: [...expressions, ...more], ...(comment !== undefined && { comment }) };
}

/** Those of the items that are in the kernel. Elements are looked up one by one. */
export async function readAlone(
  nftables: Client,
  family: Family,
  wanted: readonly TablePart[],
): Promise<Item[]> {
  const table = await readTable(nftables, family);
  if (!table) return [];
  const found: Item[] = [table];
  const keys = new Set(wanted.map(keyOf));
  if (wanted.some(({ kind }) => kind === 'tableChain')) {
    const chains = await readChains(nftables, family);
    found.push(...chains.filter((chain) => keys.has(keyOf(chain))));
  }
  if (table.stale) return found;
  const sets = new Map<SetName, ElementName[]>();
  for (const item of wanted) {
    if (!isElement(item)) continue;
    for (const { set, element } of elementsOf(item)) {
      const { key, keyEnd } = element;
      const names = sets.get(set) ?? [];
      names.push({ key, ...(keyEnd !== undefined && { keyEnd }) });
      sets.set(set, names);
    }
  }
  for (const [set, names] of sets) {
    const there = await nftables.getElements(set, names);
    found.push(...there.flatMap((element) => itemOfElement(family, set.name, element) ?? []));
  }
  return found;
}
