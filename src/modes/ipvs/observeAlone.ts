// Reads single items after an operation on them failed, without a look at all the others.
import type { Desired } from '../mode.js';
import { type Item, keyOf, LINK_KEY, type SetItem } from './items.js';
import type { IpvsKernel } from './kernel.js';
import { definitionOf, observeRules, readLink, readSysctls, serverItem } from './observe.js';
import type { IpvsOptions } from './options.js';

type Kind = Item['kind'];
type OfKind<K extends Kind> = Extract<Item, { readonly kind: K }>;

/**
 * What the kernel holds of these items. An entry or an address cannot be read alone: one that is wanted counts as absent,
 * another one as present. The next operation is then to add or to delete it, and to repeat either changes nothing.
 */
export async function observeAlone(
  kernel: IpvsKernel,
  options: IpvsOptions,
  items: ReadonlyMap<string, Item | undefined>,
  desired: Desired<Item>,
): Promise<ReadonlyMap<string, Item>> {
  const all = [...items.values()].filter((item) => item !== undefined);
  const of = <K extends Kind>(kind: K) => all.filter((item): item is OfKind<K> => item.kind === kind);
  const unwanted = [...of('entry'), ...of('address')].filter(
    (item) => desired.get(keyOf(item)) === undefined,
  );
  const found: Item[] = [
    ...unwanted,
    ...(await readSysctls(
      kernel,
      of('sysctl').map(({ name }) => name),
    )),
    ...(items.has('timeouts') ? [{ kind: 'timeouts', ...(await kernel.ipvs.timeouts()) } as const] : []),
    ...(await servers(kernel, of('virtualServer'))),
    ...(await sets(kernel, of('set'))),
    ...(items.has(LINK_KEY) ? await readLink(kernel) : []),
    ...(await rules(kernel, options, [...of('chain'), ...of('jump')])),
  ];
  return new Map(found.map((item) => [keyOf(item), item]));
}

async function servers({ ipvs }: IpvsKernel, wanted: readonly OfKind<'virtualServer'>[]): Promise<Item[]> {
  const states = await Promise.all(wanted.map(({ service }) => ipvs.get(service)));
  return wanted.flatMap(({ service, foreign }, i) => {
    const state = states[i];
    return state ? [serverItem({ ...state, ...idOf(service) }, state.realServers, !foreign)] : [];
  });
}

function idOf({ address, port, protocol }: OfKind<'virtualServer'>['service']) {
  return { address, port, protocol };
}

async function sets({ ipset }: IpvsKernel, wanted: readonly SetItem[]): Promise<Item[]> {
  if (wanted.length === 0) return [];
  const names = new Set(wanted.map(({ set }) => set.name));
  const headers = (await ipset.list()).filter(({ name }) => names.has(name));
  return headers.map((header) => ({ kind: 'set', set: definitionOf(header) }));
}

/** The number of our chains and jumps is small and does not depend on the Services. */
async function rules(
  { iptables }: IpvsKernel,
  { families }: IpvsOptions,
  wanted: readonly (OfKind<'chain'> | OfKind<'jump'>)[],
): Promise<Item[]> {
  const keys = new Set(wanted.map(keyOf));
  const found: Item[] = [];
  for (const family of families) {
    if (!wanted.some((item) => item.family === family)) continue;
    found.push(...observeRules(family, await iptables.save(family)).filter((item) => keys.has(keyOf(item))));
  }
  return found;
}
