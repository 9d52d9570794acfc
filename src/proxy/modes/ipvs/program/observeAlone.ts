// Reads single items after their operations failed, without reading all others.
import { NetlinkError } from '../../../../kernel/errors.js';
import { realServersOf } from '../../../../kernel/ipvs/values/serverLists.js';
import { type Family, familyOf } from '../../../../kernel/net/address.js';
import type { Desired, Found } from '../../mode.js';
import { isInTable, type TablePart } from '../plan/compareTable.js';
import { type Item, keyOf, type SetItem } from '../plan/items.js';
import { isInOrder, isMaglev } from '../plan/maglev.js';
import type { IpvsOptions } from '../plan/options.js';
import { familyOfElement } from '../plan/table.js';
import type { IpvsKernel } from './kernel.js';
import { definitionOf, observeRules, readLink, readSysctls, serverItem } from './observe.js';
import { readAlone } from './observeTable.js';
import { readTunnelLink, readTunnelRules } from './tunnels.js';

type Kind = Item['kind'];
type OfKind<K extends Kind> = Extract<Item, { readonly kind: K }>;

/**
 * The state of these items in the kernel. An entry of an ipset, an address or a route cannot be read alone: it counts as absent if it is
 * desired, otherwise as present. The next operation then adds or deletes it, and both can be repeated safely.
 */
export async function observeAlone(
  kernel: IpvsKernel,
  { families, rules }: IpvsOptions,
  items: ReadonlyMap<string, Item | undefined>,
  desired: Desired<Item>,
): Promise<Found<Item>> {
  const all = [...items.values()].filter((item) => item !== undefined);
  const of = <K extends Kind>(kind: K) => all.filter((item): item is OfKind<K> => item.kind === kind);
  const found = new Map<string, Item>();
  const failures = new Map<string, NetlinkError>();
  const read = async <I extends Item>(
    some: readonly I[],
    readSome: (some: readonly I[]) => Promise<readonly Item[]>,
  ): Promise<void> => {
    if (some.length === 0) return;
    try {
      for (const item of await readSome(some)) found.set(keyOf(item), item);
    } catch (error) {
      if (!(error instanceof NetlinkError)) throw error;
      for (const item of some) failures.set(keyOf(item), error);
    }
  };
  const inTables = all.filter((item): item is TablePart => isInTable(item, rules));
  const entries = rules === 'iptables' ? of('entry') : [];
  await read([...entries, ...of('address'), ...of('tunnelRoute')], async (some) =>
    some.filter((item) => desired.get(keyOf(item)) === undefined),
  );
  for (const family of families) {
    const ofFamily = inTables.filter((item) => familyOfPart(item) === family);
    await read(ofFamily, async (some) => (kernel.nftables ? readAlone(kernel.nftables, family, some) : []));
  }
  for (const item of of('sysctl')) await read([item], () => readSysctls(kernel, [item.name]));
  await read(of('timeouts'), async () => [{ kind: 'timeouts', ...(await kernel.ipvs.timeouts()) }]);
  await Promise.all(of('virtualService').map((server) => read([server], () => readServer(kernel, server))));
  await read(of('set'), (some) => readSets(kernel, some));
  await read(of('link'), () => readLink(kernel));
  for (const tunnel of of('tunnelLink')) await read([tunnel], () => readTunnelLink(kernel, tunnel.family));
  await read(of('tunnelRule'), async (some) => {
    const keys = new Set(some.map(keyOf));
    return (await readTunnelRules(kernel, families)).filter((item) => keys.has(keyOf(item)));
  });
  for (const family of families) {
    const rules = [...of('chain'), ...of('jump')].filter((item) => item.family === family);
    await read(rules, (some) => readRules(kernel, family, some));
  }
  return { items: found, failures };
}

function familyOfPart(item: TablePart): Family {
  return item.kind === 'table' || item.kind === 'tableChain' ? item.family : familyOfElement(item);
}

async function readServer(
  { ipvs }: IpvsKernel,
  { service, foreign }: OfKind<'virtualService'>,
): Promise<Item[]> {
  const { address, port, protocol } = service;
  const state = await ipvs.get(service);
  if (!state) return [];
  const family = familyOf(address);
  const realServers = realServersOf(family, state.realServers);
  const inOrder = isMaglev(state) && isInOrder(family, state.realServers);
  return [serverItem({ ...state, address, port, protocol }, realServers, !foreign, inOrder)];
}

async function readSets({ ipset }: IpvsKernel, wanted: readonly SetItem[]): Promise<Item[]> {
  const names = new Set(wanted.map(({ set }) => set.name));
  const headers = (await ipset.list()).filter(({ name }) => names.has(name));
  return headers.map((header) => ({ kind: 'set', set: definitionOf(header) }));
}

/** The number of our chains and jumps is small and does not depend on the Services. */
async function readRules({ iptables }: IpvsKernel, family: Family, wanted: readonly Item[]): Promise<Item[]> {
  const keys = new Set(wanted.map(keyOf));
  return (await observeRules(family, iptables)).filter((item) => keys.has(keyOf(item)));
}
