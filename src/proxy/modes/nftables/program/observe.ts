// Reads our items from the kernel.

import type { Family } from '../../../../kernel/net/address.js';
import type { NftSet, Table } from '../../../../kernel/nftables/types.js';
import { TimeSlice } from '../../../../kernel/timeSlice.js';
import { TABLE_FAMILY } from '../../nftablesRules/plan/families.js';
import type { ForeignChains } from '../../nftablesRules/program/foreignChains.js';
import { CONTAINERS, type Container, type NamedSet, slotMapOf, slotMapsOf } from '../plan/containers.js';
import { FLOW_TABLE_HOOK } from '../plan/flowTable.js';
import {
  type CounterItem,
  type DeviceItem,
  ElementItem,
  type FlowTableItem,
  type Item,
  keyOf,
  type SetItem,
  type TableItem,
} from '../plan/items.js';
import { protocolOfCounter } from '../plan/localhostPorts.js';
import { FLOW_TABLE, TABLE } from '../plan/names.js';
import type { NftablesOptions } from '../plan/options.js';
import { LooseElement, withSlots } from '../plan/slots.js';
import type { NftablesKernel } from './kernel.js';
import { elementItem, isStaleSet, isStaleTable, setItem } from './readItems.js';
import { chainsOf } from './readRules.js';
import { readSlots } from './readSlots.js';

/** Maximum items in a piece. */
const PIECE = 256;

type Client = NftablesKernel['nftables'];

/** Our items, in pieces, in no certain order. @param whole see {@link OwnSets} @param foreign takes the chains that are not ours */
export async function* observe(
  { nftables }: NftablesKernel,
  { families }: Pick<NftablesOptions, 'families'>,
  whole: boolean,
  foreign?: ForeignChains,
): AsyncGenerator<ReadonlyMap<string, Item>> {
  const slice = new TimeSlice();
  for (const family of families) {
    let piece = new Map<string, Item>();
    for await (const items of itemsOf(nftables, family, whole, foreign)) {
      for (const item of items) {
        piece.set(keyOf(item), item);
        if (slice.spend(1)) await slice.yield();
        if (piece.size < PIECE) continue;
        yield piece;
        piece = new Map();
      }
    }
    if (piece.size > 0) yield piece;
  }
}

/** All items of a family. Elements come in lists: a promise for each element would cost more than to read it. */
async function* itemsOf(
  nftables: Client,
  family: Family,
  whole: boolean,
  foreign: ForeignChains | undefined,
): AsyncGenerator<Iterable<Item>> {
  const { items, names, own } = await readTable(nftables, family);
  if (!names) foreign?.take(family, []);
  yield items;
  if (!names) return;
  for await (const counter of countersOf(nftables, family)) yield [counter];
  for await (const chain of chainsOf(nftables, family, { sets: own, whole }, foreign)) yield [chain];
  for (const container of Object.values(CONTAINERS[family]))
    yield* elementsOf(nftables, container, (name) => names.has(name));
}

/** The counters of rejected packets. This mode adds no other objects to the table. */
export async function* countersOf(
  nftables: Pick<Client, 'listObjects'>,
  family: Family,
): AsyncGenerator<CounterItem> {
  const where = { family: TABLE_FAMILY[family], table: TABLE };
  for await (const { type, name } of nftables.listObjects(where))
    if (type === 'counter' && protocolOfCounter(name) !== undefined) yield { kind: 'counter', family, name };
}

/** The flow table of the mode with its links; nothing if there is none. Stale: it is not as ours are, and cannot be changed. */
export async function readFlowTable(
  nftables: Pick<Client, 'listFlowTables'>,
  family: Family,
): Promise<{ readonly items: readonly (FlowTableItem | DeviceItem)[]; readonly isStale: boolean }> {
  const where = { family: TABLE_FAMILY[family], table: TABLE };
  const all = await nftables.listFlowTables(where).toArray();
  const found = all.find(({ name }) => name === FLOW_TABLE);
  if (!found) return { items: [], isStale: false };
  const { devices = [], priority, flags = [] } = found;
  const isStale = priority !== FLOW_TABLE_HOOK.priority || flags.join() !== FLOW_TABLE_HOOK.flags.join();
  const links = devices.map((name) => ({ kind: 'device', family, name }) as const);
  return { items: [{ kind: 'flowtable', family }, ...links], isStale };
}

/** The elements of a container, with their slots, in lists. Those that may have some wait for them: the kernel lists elements in no order. */
async function* elementsOf(
  nftables: Client,
  container: Container,
  has: (set: string) => boolean,
): AsyncGenerator<readonly ElementItem[]> {
  const waiting = new Map<string, ElementItem>();
  const slice = new TimeSlice();
  for (const element of has(container.name)
    ? await nftables.listElements(inTable(container)).toArray()
    : []) {
    const item = elementItem(container, element);
    waiting.set(item.text, item);
    if (slice.spend(1)) await slice.yield();
  }
  for (const map of slotMapsOf(container).filter(({ name }) => has(name))) {
    const complete: ElementItem[] = [];
    for (const [text, found] of await readSlots(nftables, map)) {
      // Another program may have added it to a map in which no rule looks for its frontend: it does no harm, and stays.
      if (slotMapOf(container, text) !== map) continue;
      const item = waiting.get(text);
      waiting.delete(text);
      complete.push(
        item
          ? withSlots(item, found)
          : new LooseElement(new ElementItem(container, text), found.numbers, true),
      );
      if (slice.spend(1)) await slice.yield();
    }
    yield complete;
  }
  const rest: ElementItem[] = [];
  for (const item of waiting.values()) {
    rest.push(withSlots(item, undefined));
    if (slice.spend(1)) await slice.yield();
  }
  yield rest;
}

function inTable<Shape extends NamedSet>(set: Shape) {
  return { ...set, family: TABLE_FAMILY[set.family], table: TABLE };
}

/** The table of the mode in a family, with its sets. */
interface ReadTable {
  /** The items of the table, of its named sets and of its flow table. None if there is no table. */
  readonly items: readonly (TableItem | SetItem | FlowTableItem | DeviceItem)[];
  /** The names of its sets that were read. Absent if there is no table, or if it is stale: nothing else of it counts. */
  readonly names?: ReadonlySet<string>;
  /** The sets that belong to rules, by name, if they were read. */
  readonly own: ReadonlyMap<string, NftSet>;
}

const NO_TABLE: ReadTable = { items: [], own: new Map() };

/** Reads the table of a family. It is stale if it has a set or a flow table with the name of one of this mode, but of another type. */
export async function readTable(
  nftables: Pick<Client, 'listFlowTables' | 'listSets' | 'listTables'>,
  family: Family,
): Promise<ReadTable> {
  const where = { family: TABLE_FAMILY[family], table: TABLE };
  const tables = await nftables.listTables({ family: where.family }).toArray();
  const found = tables.find(({ name }) => name === TABLE);
  if (!found) return NO_TABLE;
  const sets = await nftables.listSets(where).toArray();
  const flowTable = await readFlowTable(nftables, family);
  const table = tableWith(family, found, sets, flowTable.isStale);
  return { ...table, items: table.names ? [...table.items, ...flowTable.items] : table.items };
}

/** As {@link readTable}, with the named sets of these names only, each of which is a call: without those that belong to rules, and the flow table. */
export async function readTableWith(
  nftables: Pick<Client, 'getTable' | 'getSet'>,
  family: Family,
  names: Iterable<string>,
): Promise<ReadTable> {
  const where = { family: TABLE_FAMILY[family], table: TABLE };
  const found = await nftables.getTable({ family: where.family, name: TABLE });
  if (!found) return NO_TABLE;
  const sets: NftSet[] = [];
  for (const name of names) {
    const set = await nftables.getSet({ ...where, name });
    if (set) sets.push(set);
  }
  return tableWith(family, found, sets);
}

function tableWith(family: Family, found: Table, sets: readonly NftSet[], isStale = false): ReadTable {
  if (isStale || isStaleTable(found) || sets.some((set) => isStaleSet(family, set)))
    return { ...NO_TABLE, items: [{ kind: 'table', family, stale: true }] };
  const items: (TableItem | SetItem)[] = [{ kind: 'table', family }];
  const own = new Map<string, NftSet>();
  for (const set of sets) {
    const item = setItem(family, set);
    if (item) items.push(item);
    else if (set.anonymous) own.set(set.name, set);
  }
  return { items, names: new Set(sets.map(({ name }) => name)), own };
}
