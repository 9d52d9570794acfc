// Reads single items from the kernel.
import { NetlinkError } from '../../../errors.js';
import type { Chain, Value } from '../../../kernel/nftables/types.js';
import type { Family } from '../../../net/address.js';
import type { Found } from '../../mode.js';
import {
  CONTAINERS,
  type Container,
  type ContainerName,
  keyOfText,
  type SlotMap,
  slotMapOf,
  TABLE_FAMILY,
} from '../plan/containers.js';
import { ElementItem, type Item, keyOf, placeOfKey } from '../plan/items.js';
import { TABLE } from '../plan/names.js';
import type { NftablesOptions } from '../plan/options.js';
import { sharedChainNamed } from '../plan/sharedChains.js';
import { type FoundSlots, LooseElement, withSlots } from '../plan/slots.js';
import type { NftablesKernel } from './kernel.js';
import { countersOf, readTable } from './observe.js';
import { addSlot, elementItem } from './readItems.js';
import { chainItem, type OwnSets } from './readRules.js';

type Client = NftablesKernel['nftables'];

/** The keys of items to read in a family, by kind. */
interface Wanted {
  readonly chains: Set<string>;
  /** Some of the items are counters. */
  counters: boolean;
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
  const wanted: Wanted = { chains: new Set(), counters: false, elements: new Map() };
  for (const key of keys) {
    const place = placeOfKey(key);
    if (place?.family !== family) continue;
    if (place.kind === 'chain') wanted.chains.add(place.name);
    wanted.counters ||= place.kind === 'counter';
    if (place.kind !== 'element') continue;
    const texts = wanted.elements.get(place.container);
    if (texts) texts.push(place.text);
    else wanted.elements.set(place.container, [place.text]);
  }
  return wanted;
}

async function* read(
  nftables: Client,
  family: Family,
  { chains, counters, elements }: Wanted,
): AsyncGenerator<Item> {
  const { items, names, own } = await readTable(nftables, family);
  yield* items;
  if (!names) return;
  const where = { family: TABLE_FAMILY[family], table: TABLE };
  if (counters) yield* countersOf(nftables, family);
  if (chains.size > 0) {
    for await (const chain of nftables.listChains(where))
      if (chains.has(chain.name)) yield await readOne(nftables, family, chain, { sets: own, whole: true });
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

async function readOne(nftables: Client, family: Family, chain: Chain, own: OwnSets): Promise<Item> {
  const where = { family: TABLE_FAMILY[family], table: TABLE, chain: chain.name };
  return chainItem(nftables, family, chain, await nftables.listRules(where).toArray(), own);
}
