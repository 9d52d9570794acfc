// Reads what the kernel holds of ours.
import type { SetHeader, SetReference, SetState, SetType } from '../../kernel/ipset/types.js';
import type { SavedRules, Table } from '../../kernel/iptables/types.js';
import type { AddressId, RealServer, VirtualServiceState } from '../../kernel/ipvs/types.js';
import { type Family, familyOf, isLinkLocalIPv6, joinHostPort } from '../../net/address.js';
import { networkContains, parseNetwork } from '../../net/network.js';
import type { Known } from '../mode.js';
import { iptablesModeJumps, isIptablesModeChain } from './iptablesMode.js';
import { type Item, keyOf, LINK, REBUILD, type SetItem } from './items.js';
import type { IpvsKernel } from './kernel.js';
import type { IpvsOptions } from './options.js';
import { recordOf, recordsNaming } from './ownership.js';
import { sysctls } from './planNode.js';
import { CHAINS, jumps } from './rules.js';
import { SET_ROLES, setOf } from './sets.js';

/** Everything of ours, by key, and the virtual services of others, marked as such. */
export async function observe(kernel: IpvsKernel, options: IpvsOptions): Promise<Known<Item>> {
  const known: Known<Item> = new Map();
  const take = (items: Iterable<Item>) => {
    for (const item of items) known.set(keyOf(item), item);
  };
  take(await observeSysctls(kernel, options));
  take([{ kind: 'timeouts', ...(await kernel.ipvs.timeouts()) }]);
  take(await observeLink(kernel, options));
  const sets = await observeSets(kernel, options);
  take(sets);
  take(await observeServers(kernel, options, ownership(known, options)));
  for (const family of options.families) take(observeRules(family, await kernel.iptables.save(family)));
  return known;
}

async function observeSysctls({ sysctl }: IpvsKernel, options: IpvsOptions): Promise<Item[]> {
  const names = sysctls(options).map(([name]) => name);
  const values = await Promise.all(names.map((name) => sysctl.read(name)));
  return names.flatMap((name, i): Item[] => {
    const value = values[i];
    return value === undefined ? [] : [{ kind: 'sysctl', name, value }];
  });
}

async function observeLink({ rtnetlink }: IpvsKernel, options: IpvsOptions): Promise<Item[]> {
  const link = await rtnetlink.getLink(LINK);
  if (!link) return [];
  const addresses = await rtnetlink.listAddresses(LINK);
  const excluded = excludes(options);
  const isKept = (address: string) => options.cures.has('excluded-addresses') && excluded(address);
  return [
    { kind: 'link', name: LINK, ...(link.kind === 'dummy' ? {} : { foreign: true }) },
    ...addresses
      // The kernel gives a device that somebody set up a link-local address of its own.
      .filter(({ address }) => options.families.includes(familyOf(address)) && !isLinkLocalIPv6(address))
      .map(
        ({ address }): Item => ({ kind: 'address', address, ...(isKept(address) ? { foreign: true } : {}) }),
      ),
  ];
}

async function observeSets({ ipset }: IpvsKernel, { families }: IpvsOptions): Promise<Item[]> {
  const present = new Set((await ipset.list()).map(({ name }) => name));
  const items: Item[] = present.has(REBUILD)
    ? [{ kind: 'set', set: { name: REBUILD, type: 'hash:ip' } }]
    : [];
  for (const family of families) {
    for (const role of SET_ROLES) {
      const reference = setOf(role, family);
      const state = present.has(reference.name) ? await ipset.get(reference.name) : undefined;
      if (state) items.push(...setItems(reference, state));
    }
  }
  return items;
}

function setItems(reference: SetReference, { set, entries }: SetState): Item[] {
  return [
    { kind: 'set', set: definitionOf(set) },
    ...(set.type === reference.type ? entries : []).map(
      (entry): Item => ({ kind: 'entry', set: reference, entry }),
    ),
  ];
}

/** The definition by which the set could have been made. A type that we never make is kept, to be seen as different. */
function definitionOf(header: SetHeader): SetItem['set'] {
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
 * Whether a virtual service is ours: its address is on our device, or our sets name its address and port. The sets are
 * filled before virtual services are made and emptied after they are gone, so they know them across restarts, and those
 * of a kube-proxy that ran here before. Everything else (keepalived's, those with a firewall mark) is not touched.
 */
function ownership(known: Known<Item>, options: IpvsOptions): (id: AddressId) => boolean {
  const isOurs = options.ownAll ? () => true : recordedIn(known);
  const excluded = excludes(options);
  return (id) => isOurs(id) && !excluded(id.address);
}

function recordedIn(known: Known<Item>): (id: AddressId) => boolean {
  const records = new Set([...known.values()].flatMap((item) => recordOf(item) ?? []));
  return (id) =>
    known.has(keyOf({ kind: 'address', address: id.address })) ||
    recordsNaming(id).some((record) => records.has(record));
}

/** Whether an address is in one of the networks whose virtual services are never deleted. */
function excludes({ excludeCIDRs }: IpvsOptions): (address: string) => boolean {
  const networks = excludeCIDRs.flatMap((text) => parseNetwork(text) ?? []);
  return (address) => networks.some((network) => networkContains(network, address));
}

async function observeServers(
  { ipvs }: IpvsKernel,
  { families }: IpvsOptions,
  isOurs: (id: AddressId) => boolean,
): Promise<Item[]> {
  return (await ipvs.list()).flatMap((service): Item[] => {
    if (!('address' in service) || !families.includes(familyOf(service.address))) return [];
    return [serverItem(service, isOurs(service))];
  });
}

function serverItem(state: VirtualServiceState & AddressId, ours: boolean): Item {
  const { address, port, protocol, scheduler, flags, timeout, netmask } = state;
  const realServers = state.realServers.map((server): [string, RealServer] => {
    const { address, port, weight, forwarding, upperThreshold, lowerThreshold } = server;
    return [
      joinHostPort(address, port),
      { address, port, weight, forwarding, upperThreshold, lowerThreshold },
    ];
  });
  return {
    kind: 'virtualServer',
    service: { address, port, protocol, scheduler, flags, timeout, netmask },
    realServers: new Map(realServers),
    ...(ours ? {} : { foreign: true }),
  };
}

function observeRules(family: Family, saved: SavedRules): Item[] {
  const taken = takenByOthers(family, saved);
  const items: Item[] = [];
  for (const [id, rules] of saved) {
    const [table, name] = id.split('/') as [string, string];
    if (!isKnownChain(table, name)) continue;
    items.push({ kind: 'chain', family, table, name, rules, ...(taken.has(id) ? { foreign: true } : {}) });
  }
  for (const jump of [...jumps(family), ...iptablesModeJumps(family)]) {
    if (saved.get(`${jump.table}/${jump.from}`)?.includes(jump.rule)) items.push({ kind: 'jump', ...jump });
  }
  return items;
}

/** There are tables beside those that any mode uses. */
function isKnownChain(table: string, name: string): table is Table {
  return (table in CHAINS && CHAINS[table as Table].includes(name)) || isIptablesModeChain(table, name);
}

/** Chains that rules outside kube-proxy's chains, and other than its jumps, lead to: kubelet and CNI plugins know some. */
function takenByOthers(family: Family, saved: SavedRules): Set<string> {
  const known = new Set([...jumps(family), ...iptablesModeJumps(family)].map(({ rule }) => rule));
  const taken = new Set<string>();
  for (const [id, rules] of saved) {
    const [table, name] = id.split('/') as [string, string];
    if (isKnownChain(table, name)) continue;
    for (const rule of rules) {
      const target = known.has(rule) ? undefined : /-[jg] (\S+)/.exec(rule)?.[1];
      if (target !== undefined) taken.add(`${table}/${target}`);
    }
  }
  return taken;
}
