// Reads single items from the kernel.
import { NetlinkError } from '../../../../kernel/errors.js';
import type { Family } from '../../../../kernel/net/address.js';
import type { Chain, NftSet, Rule, Value } from '../../../../kernel/nftables/types.js';
import type { Found } from '../../mode.js';
import { TABLE_FAMILY } from '../../nftablesRules/plan/families.js';
import {
  CONTAINERS,
  type Container,
  type ContainerName,
  keyOfText,
  type SlotMap,
  slotMapOf,
} from '../plan/containers.js';
import { ElementItem, type Item, keyOf, placeOfKey } from '../plan/items.js';
import { TABLE } from '../plan/names.js';
import type { NftablesOptions } from '../plan/options.js';
import { sharedChainNamed } from '../plan/sharedChains.js';
import { type FoundSlots, LooseElement, withSlots } from '../plan/slots.js';
import type { NftablesKernel } from './kernel.js';
import { countersOf, readFlowTable, readTable, readTableWith } from './observe.js';
import { addSlot, elementItem } from './readItems.js';
import { chainItem, type OwnSets } from './readRules.js';

type Client = NftablesKernel['nftables'];

/**
 * Most chains and sets that are read by their names. The kernel finds each by a search through those before it; a listing of a large table
 * has one of its own for each Service.
 */
const MOST_BY_NAME = 32;

/** The keys of items to read in a family, by kind. */
interface Wanted {
  readonly chains: Set<string>;
  /** Names of named sets: those that are items, and those with elements that are. */
  readonly sets: Set<string>;
  /** Some of the items are counters. */
  counters: boolean;
  /** Some are the flow table or its links. */
  flowTable: boolean;
  readonly elements: Map<ContainerName, string[]>;
}

/** The state of these items in the kernel. */
export async function observeAlone(
  { nftables }: NftablesKernel,
  { families }: Pick<NftablesOptions, 'families'>,
  keys: Iterable<string>,
): Promise<Found<Item>> {
  const all = new Set(keys);
  const items = new Map<string, Item>();
  const failures = new Map<string, NetlinkError>();
  for (const family of families) {
    const wanted = wantedOf(all, family);
    const ofFamily = [...all].filter((key) => placeOfKey(key)?.family === family);
    if (ofFamily.length === 0) continue;
    try {
      for await (const item of read(nftables, family, wanted)) {
        const key = keyOf(item);
        if (all.has(key)) items.set(key, item);
      }
    } catch (error) {
      if (!(error instanceof NetlinkError)) throw error;
      for (const key of ofFamily) failures.set(key, error);
    }
  }
  return { items, failures };
}

function wantedOf(keys: Iterable<string>, family: Family): Wanted {
  const wanted: Wanted = {
    chains: new Set(),
    sets: new Set(),
    counters: false,
    flowTable: false,
    elements: new Map(),
  };
  for (const key of keys) {
    const place = placeOfKey(key);
    if (place?.family !== family) continue;
    if (place.kind === 'chain') wanted.chains.add(place.name);
    if (place.kind === 'set') wanted.sets.add(place.name);
    wanted.counters ||= place.kind === 'counter';
    wanted.flowTable ||= place.kind === 'flowtable' || place.kind === 'device';
    if (place.kind !== 'element') continue;
    const slots = slotMapOf(CONTAINERS[family][place.container], place.text);
    wanted.sets.add(place.container);
    if (slots) wanted.sets.add(slots.name);
    const texts = wanted.elements.get(place.container);
    if (texts) texts.push(place.text);
    else wanted.elements.set(place.container, [place.text]);
  }
  return wanted;
}

async function* read(
  nftables: Client,
  family: Family,
  { chains, sets, counters, flowTable, elements }: Wanted,
): AsyncGenerator<Item> {
  const isByName = chains.size + sets.size <= MOST_BY_NAME;
  const { items, names, own } = isByName
    ? await readTableWith(nftables, family, sets)
    : await readTable(nftables, family);
  yield* items;
  if (!names) return;
  const where = { family: TABLE_FAMILY[family], table: TABLE };
  if (counters) yield* countersOf(nftables, family);
  if (flowTable && isByName) yield* (await readFlowTable(nftables, family)).items;
  if (chains.size > 0) {
    const found = isByName ? chainsNamed(nftables, family, chains) : nftables.listChains(where);
    for await (const chain of found)
      if (chains.has(chain.name)) yield await readOne(nftables, family, chain, isByName ? undefined : own);
  }
  for (const [name, texts] of elements) {
    if (!names.has(name)) continue;
    const container = CONTAINERS[family][name];
    const keys = texts.map((text) => ({ key: keyOfText(container, text) }));
    const found = await nftables.getElements({ ...container, ...where }, keys);
    const items = new Map(
      found.map((element) => elementItem(container, element)).map((item) => [item.text, item]),
    );
    for (const text of texts) {
      const item = items.get(text);
      const map = slotMapOf(container, text);
      if (map && names.has(map.name)) yield* readWithSlots(nftables, { container, map }, text, item);
      else if (item) yield withSlots(item, undefined);
    }
  }
}

/** Slots that are looked up at once, behind those that an element should have. */
const MORE_SLOTS = 16;

/** An element with its slots: those that it should have, and what follows them without a wide gap. */
async function* readWithSlots(
  nftables: Client,
  { container, map }: { readonly container: Container; readonly map: SlotMap },
  text: string,
  element: ElementItem | undefined,
): AsyncGenerator<ElementItem> {
  const { family } = map;
  const frontend = keyOfText(container, text) as readonly Value[];
  const set = { ...map, family: TABLE_FAMILY[family], table: TABLE };
  const slots = new Map<string, FoundSlots>();
  let first = 0;
  let count = ((element && sharedChainNamed(family, element.verdict)?.endpoints) ?? 0) + 1;
  for (let hits = 1; hits > 0; first += count, count = MORE_SLOTS) {
    const keys = Array.from({ length: count }, (_, i) => ({ key: [...frontend, first + i] }));
    const found = await nftables.getElements(set, keys);
    for (const each of found) addSlot(slots, family, each);
    hits = found.length;
  }
  const found = slots.get(text);
  if (element) yield withSlots(element, found);
  else if (found) yield new LooseElement(new ElementItem(container, text), found.numbers, true);
}

/** The chains of these names that exist. */
async function* chainsNamed(
  nftables: Client,
  family: Family,
  names: Iterable<string>,
): AsyncGenerator<Chain> {
  for (const name of names) {
    const chain = await nftables.getChain({ family: TABLE_FAMILY[family], table: TABLE, name });
    if (chain) yield chain;
  }
}

/** The item of a chain. @param own the sets that belong to rules, if all are known; otherwise, those of its rules are read by their names */
async function readOne(
  nftables: Client,
  family: Family,
  chain: Chain,
  own: OwnSets['sets'] | undefined,
): Promise<Item> {
  const where = { family: TABLE_FAMILY[family], table: TABLE };
  const rules = await nftables.listRules({ ...where, chain: chain.name }).toArray();
  const sets = own ?? (await ownSetsOf(nftables, family, rules));
  return chainItem(nftables, family, chain, rules, { sets, whole: true });
}

/** The sets that belong to rules. */
async function ownSetsOf(
  nftables: Client,
  family: Family,
  rules: readonly Rule[],
): Promise<ReadonlyMap<string, NftSet>> {
  const sets = new Map<string, NftSet>();
  for (const { expressions } of rules)
    for (const expression of expressions) {
      if (expression.kind !== 'lookup' || typeof expression.set !== 'string') continue;
      const name = expression.set;
      const set = await nftables.getSet({ family: TABLE_FAMILY[family], table: TABLE, name });
      if (set?.anonymous) sets.set(name, set);
    }
  return sets;
}
