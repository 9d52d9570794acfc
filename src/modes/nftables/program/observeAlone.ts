// Reads single items from the kernel.
import { NetlinkError } from '../../../errors.js';
import type { Chain } from '../../../kernel/nftables/types.js';
import type { Family } from '../../../net/address.js';
import type { Found } from '../../mode.js';
import { CONTAINERS, type ContainerName, keyOfText, TABLE_FAMILY } from '../plan/containers.js';
import { type Item, keyOf, placeOfKey } from '../plan/items.js';
import { TABLE } from '../plan/names.js';
import type { NftablesOptions } from '../plan/options.js';
import type { NftablesKernel } from './kernel.js';
import { readTable } from './observe.js';
import { elementItem } from './readItems.js';
import { chainItem, type OwnSets } from './readRules.js';

type Client = NftablesKernel['nftables'];

/** The keys of items to read in a family, by kind. */
interface Wanted {
  readonly chains: Set<string>;
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
  const wanted: Wanted = { chains: new Set(), elements: new Map() };
  for (const key of keys) {
    const place = placeOfKey(key);
    if (place?.family !== family) continue;
    if (place.kind === 'chain') wanted.chains.add(place.name);
    if (place.kind !== 'element') continue;
    const texts = wanted.elements.get(place.container);
    if (texts) texts.push(place.text);
    else wanted.elements.set(place.container, [place.text]);
  }
  return wanted;
}

async function* read(nftables: Client, family: Family, { chains, elements }: Wanted): AsyncGenerator<Item> {
  const { items, names, own } = await readTable(nftables, family);
  yield* items;
  if (!names) return;
  const where = { family: TABLE_FAMILY[family], table: TABLE };
  if (chains.size > 0) {
    for await (const chain of nftables.listChains(where))
      if (chains.has(chain.name)) yield await readOne(nftables, family, chain, { sets: own, whole: true });
  }
  for (const [name, texts] of elements) {
    if (!names.has(name)) continue;
    const container = CONTAINERS[family][name];
    const keys = texts.map((text) => ({ key: keyOfText(container, text) }));
    for (const element of await nftables.getElements({ ...container, ...where }, keys))
      yield elementItem(container, element);
  }
}

async function readOne(nftables: Client, family: Family, chain: Chain, own: OwnSets): Promise<Item> {
  const where = { family: TABLE_FAMILY[family], table: TABLE, chain: chain.name };
  return chainItem(nftables, family, chain, await nftables.listRules(where).toArray(), own);
}
