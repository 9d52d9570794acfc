// Reads our items from the kernel.
import type {
  SetDefinition,
  SetHeader,
  SetReference,
  SetState,
  SetType,
} from '../../../../kernel/ipset/types.js';
import type { Iptables, SavedChain, Table } from '../../../../kernel/iptables/types.js';
import type { AddressId, VirtualService } from '../../../../kernel/ipvs/types.js';
import type { RealServers } from '../../../../kernel/ipvs/values/serverLists.js';
import { type Family, familyOf, isLinkLocalIPv6 } from '../../../../kernel/net/address.js';
import { ForeignTargets } from '../../iptablesRules/plan/targets.js';
import { excludedAddresses } from '../plan/excluded.js';
import {
  type Item,
  itemMap,
  keyOf,
  LINK,
  REBUILD,
  type SetItem,
  type VirtualServiceItem,
  virtualServiceKey,
} from '../plan/items.js';
import { isInOrder, isMaglev } from '../plan/maglev.js';
import type { IpvsOptions } from '../plan/options.js';
import { recordOf, recordsNaming } from '../plan/ownership.js';
import { sysctls } from '../plan/planNode.js';
import { CHAINS, jumps } from '../plan/rules.js';
import { SET_ROLES, setOf } from '../plan/sets.js';
import { TUNNEL_SYSCTLS } from '../plan/tunnels.js';
import type { IpvsKernel } from './kernel.js';
import { listServices } from './listServices.js';
import { observeTable } from './observeTable.js';
import { observeTunnels } from './tunnels.js';

/** Maximum items in a piece. */
const PIECE = 256;
/** Number of virtual services whose real servers are read in one call, which takes about 1 ms. */
const SERVICES = 64;

/**
 * Our items, and foreign virtual services, marked as such. The order is settings, link and addresses, tunnels, sets,
 * virtual services, rules: the sets and addresses record which virtual services are ours.
 *
 * @param made keys of virtual services that this process added: they are ours even if their entries could not be added
 */
export async function* observe(
  kernel: IpvsKernel,
  options: IpvsOptions,
  made: ReadonlySet<string> = new Set(),
): AsyncGenerator<ReadonlyMap<string, Item>> {
  yield itemMap(
    await readSysctls(
      kernel,
      sysctls(options).map(([name]) => name),
    ),
  );
  yield itemMap([{ kind: 'timeouts', ...(await kernel.ipvs.timeouts()) }]);
  const records = new Set<string>();
  for await (const piece of inPieces(observeRecords(kernel, options))) {
    for (const [key, item] of piece) {
      if (item.kind === 'address') records.add(key);
      const record = recordOf(item);
      if (record !== undefined) records.add(record);
    }
    yield piece;
  }
  for await (const items of kernel.otherEntries?.() ?? []) {
    for (const item of items) {
      const record = recordOf(item);
      if (record !== undefined) records.add(record);
    }
  }
  yield* observeServers(kernel, options, ownership(records, made, options));
  if (options.rules === 'iptables') yield itemMap(await readRules(kernel, options));
}

/** The chains and jumps of all families. Their programs run at the same time. */
async function readRules({ iptables }: IpvsKernel, { families }: IpvsOptions): Promise<Item[]> {
  const read = (family: Family) => observeRules(family, iptables);
  return (await Promise.all(families.map(read))).flat();
}

/** kube-ipvs0 with its addresses, and the sets, or the tables with their rules: they record which virtual services are ours. */
async function* observeRecords(kernel: IpvsKernel, options: IpvsOptions): AsyncGenerator<readonly Item[]> {
  yield await observeLink(kernel, options);
  const tunnels = await observeTunnels(kernel, options);
  yield tunnels;
  if (tunnels.length > 0)
    yield await readSysctls(
      kernel,
      options.families.map((family) => TUNNEL_SYSCTLS[family][0]),
    );
  if (options.rules === 'iptables') yield* observeSets(kernel, options);
  else for (const family of options.families) yield* observeTables(kernel, family);
}

async function* observeTables(
  { nftables, foreignChains }: IpvsKernel,
  family: Family,
): AsyncGenerator<readonly Item[]> {
  if (nftables) yield* observeTable(nftables, family, foreignChains);
}

async function* inPieces(lists: AsyncIterable<readonly Item[]>): AsyncGenerator<Map<string, Item>> {
  for await (const list of lists) {
    for (let start = 0; start < list.length; start += PIECE) yield itemMap(list.slice(start, start + PIECE));
  }
}

/** Settings, as paths below /proc/sys, without those that the kernel does not have. */
export async function readSysctls({ sysctl }: IpvsKernel, names: readonly string[]): Promise<Item[]> {
  const values = await Promise.all(names.map((name) => sysctl.read(name)));
  return names.flatMap((name, i): Item[] => {
    const value = values[i];
    return value === undefined ? [] : [{ kind: 'sysctl', name, value }];
  });
}

/** The link kube-ipvs0, if it exists. It is foreign if its kind is not dummy. */
export async function readLink({ rtnetlink }: IpvsKernel): Promise<Item[]> {
  const link = await rtnetlink.getLink(LINK);
  return link ? [{ kind: 'link', name: LINK, ...(link.kind === 'dummy' ? {} : { foreign: true }) }] : [];
}

async function observeLink(kernel: IpvsKernel, options: IpvsOptions): Promise<Item[]> {
  const link = await readLink(kernel);
  if (link.length === 0) return [];
  const addresses = await kernel.rtnetlink.listAddresses(LINK);
  return [
    ...link,
    ...addresses
      // If another program sets the link up, the kernel adds a link-local address.
      .filter(({ address }) => options.families.includes(familyOf(address)) && !isLinkLocalIPv6(address))
      .map(({ address }): Item => ({ kind: 'address', address })),
  ];
}

/** The sets of the families, with their entries. */
export async function* observeSets(
  { ipset }: Pick<IpvsKernel, 'ipset'>,
  { families }: IpvsOptions,
): AsyncGenerator<Item[]> {
  const present = new Set((await ipset.list()).map(({ name }) => name));
  if (present.has(REBUILD)) yield [{ kind: 'set', set: { name: REBUILD, type: 'hash:ip' } as SetDefinition }];
  for (const family of families) {
    for (const role of SET_ROLES) {
      const reference = setOf(role, family);
      const state = present.has(reference.name) ? await ipset.get(reference.name) : undefined;
      if (state) yield setItems(reference, state);
    }
  }
}

function setItems(reference: SetReference, { set, entries }: SetState): Item[] {
  return [
    { kind: 'set', set: definitionOf(set) },
    ...(set.type === reference.type ? entries : []).map(
      (entry): Item => ({ kind: 'entry', set: reference, entry }),
    ),
  ];
}

/** The definition of an existing set. An unsupported type is included, so that it differs from the desired one. */
export function definitionOf(header: SetHeader): SetItem['set'] {
  return parametersOf(header) as SetItem['set'];
}

function parametersOf(header: SetHeader): object {
  const { name, family, maxElements, range } = header;
  const type = header.type as SetType;
  const extended = header.extended ? ({ extended: true } as const) : {};
  if (type === 'bitmap:port') return { name, type, ...(range ? { range } : {}), ...extended };
  return {
    name,
    type,
    ...(family === undefined ? {} : { family }),
    ...(maxElements === undefined ? {} : { maxElements }),
    ...extended,
  };
}

/**
 * Whether a virtual service is ours: its address is on kube-ipvs0, or our sets contain its address and port. Entries
 * are added before virtual services and deleted after them, so the record survives restarts, and includes those of a
 * former kube-proxy. Other virtual services (keepalived's, those with a firewall mark) are not changed. Without a record,
 * those in excludeCIDRs are never ours.
 */
function ownership(
  records: ReadonlySet<string>,
  made: ReadonlySet<string>,
  options: IpvsOptions,
): (id: AddressId) => boolean {
  const excluded = excludedAddresses(options);
  const isRecorded = (id: AddressId) =>
    made.has(virtualServiceKey(id)) ||
    records.has(keyOf({ kind: 'address', address: id.address })) ||
    recordsNaming(id).some((record) => records.has(record));
  return (id) => isRecorded(id) || (options.ownAll && !excluded(id.address));
}

async function* observeServers(
  { ipvs }: IpvsKernel,
  { families, cures }: IpvsOptions,
  isOurs: (id: AddressId) => boolean,
): AsyncGenerator<Map<string, Item>> {
  const services = (await listServices(ipvs)).filter(
    (service): service is VirtualService & AddressId =>
      'address' in service && families.includes(familyOf(service.address)),
  );
  for (let start = 0; start < services.length; start += SERVICES) {
    const some = services.slice(start, start + SERVICES);
    const lists = await ipvs.listServers(some);
    const ordered = cures.has('node-failover') ? await inOrder(ipvs, some) : undefined;
    const itemOf = (service: VirtualService & AddressId, i: number) =>
      serverItem(service, lists[i] as RealServers, isOurs(service), ordered?.has(service) ?? false);
    yield itemMap(some.map(itemOf));
  }
}

/** The virtual services with the Maglev scheduler whose real servers were added in the order of all nodes. */
async function inOrder(
  ipvs: IpvsKernel['ipvs'],
  services: readonly (VirtualService & AddressId)[],
): Promise<ReadonlySet<VirtualService>> {
  const found = new Set<VirtualService>();
  for (const service of services.filter(isMaglev)) {
    const state = await ipvs.get(service);
    if (state && isInOrder(familyOf(service.address), state.realServers)) found.add(service);
  }
  return found;
}

/** The item of a virtual service in the kernel. */
export function serverItem(
  service: VirtualService & AddressId,
  realServers: RealServers,
  ours: boolean,
  inOrder: boolean,
): VirtualServiceItem {
  return {
    kind: 'virtualService',
    service: serviceOf(service),
    ...realServers,
    ...(ours ? {} : { foreign: true }),
    ...(inOrder && { inOrder }),
  };
}

/** Copies single fields: a listing may have more. The persistence engine is left out: no plan has one. */
function serviceOf(service: VirtualService & AddressId): VirtualService & AddressId {
  const { address, port, protocol, scheduler, schedulerFlags, onePacket, persistence } = service;
  const settings = { address, port, protocol, scheduler, schedulerFlags, onePacket };
  return persistence ? { ...settings, persistence } : settings;
}

/** Our chains and jumps of a family. */
export async function observeRules(family: Family, iptables: Pick<Iptables, 'chains'>): Promise<Item[]> {
  const known = jumps(family);
  const taken = new ForeignTargets(isKnownChain, new Set(known.map(({ text }) => text)));
  const own: SavedChain[] = [];
  const items: Item[] = [];
  for await (const piece of iptables.chains(family)) {
    for (const chain of piece) {
      taken.add(chain);
      if (isKnownChain(chain.table, chain.name)) own.push(chain);
      for (const jump of known) {
        const isIn = jump.table === chain.table && jump.chain === chain.name;
        if (isIn && chain.rules.includes(jump.text)) items.push({ kind: 'jump', ...jump });
      }
    }
  }
  const chains = own.map(({ table, name, rules }): Item => {
    const marked = taken.has(table, name) ? ({ foreign: true } as const) : {};
    return { kind: 'chain', family, table: table as Table, name, rules, ...marked };
  });
  return [...chains, ...items];
}

/** Ignores tables that the mode does not use. */
function isKnownChain(table: string, name: string): table is Table {
  return table in CHAINS && CHAINS[table as Table].includes(name);
}
