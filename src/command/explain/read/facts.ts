// Reads the state on which the path of a packet depends in every mode with iptables rules. Changes nothing.
import type { Ipset, SetState } from '../../../kernel/ipset/types.js';
import type { Iptables, SavedTables } from '../../../kernel/iptables/types.js';
import type { Family } from '../../../kernel/net/address.js';
import type { Rtnetlink } from '../../../kernel/rtnetlink/types.js';
import type { Sysctl } from '../../../kernel/sysctl/index.js';
import type { ProcNet } from '../../kernel/procNet/types.js';
import { readRule } from '../packet/ruleText.js';
import { CONNECTIONS, type PathFacts, pathSettings, reversePathFilters } from '../shared/facts.js';
import { type ChainReader, foreignChains } from './foreignChains.js';

/** The parts of the kernel that an explanation reads in every mode. */
export interface PathKernel {
  readonly iptables: Pick<Iptables, 'saveTables'>;
  readonly sysctl: Pick<Sysctl, 'read'>;
  readonly rtnetlink: Pick<Rtnetlink, 'listLinks' | 'listAddresses' | 'listNeighbours'>;
  readonly procNet: ProcNet;
  /** Absent: no set is read, and a rule that names a set is not understood. */
  readonly ipset?: Pick<Ipset, 'get'>;
  /** Absent: the kernel has no nftables. */
  readonly nftables?: ChainReader;
}

/**
 * Reads the state for packets of a family. Rejects with the NetlinkError of the part that cannot be read.
 *
 * @param settings further settings to read, as paths below /proc/sys
 * @param own the table of nftables that is read besides; undefined for none
 */
export async function readPathFacts(
  kernel: PathKernel,
  family: Family,
  settings: readonly string[],
  own?: string,
): Promise<PathFacts> {
  const tables = await kernel.iptables.saveTables(family);
  const links = await kernel.rtnetlink.listLinks();
  const routes = await kernel.procNet.routes(family);
  return {
    family,
    tables,
    sets: kernel.ipset ? await readSets(kernel.ipset, tables) : new Map(),
    links: new Map(links.map(({ name, kind }) => [name, kind])),
    mtus: new Map(links.map(({ name, mtu }) => [name, mtu])),
    unread: kernel.nftables ? await foreignChains(kernel.nftables, family, own) : [],
    addresses: await kernel.rtnetlink.listAddresses(),
    routes,
    neighbours: await kernel.rtnetlink.listNeighbours({ family }).toArray(),
    sockets: await kernel.procNet.listeningSockets(),
    settings: await readSettings(kernel.sysctl, [
      ...Object.values(pathSettings(family)),
      ...Object.values(CONNECTIONS),
      ...reversePathFilters(['all', ...new Set(routes.map(({ link }) => link))], family),
      ...settings,
    ]),
  };
}

async function readSets(ipset: Pick<Ipset, 'get'>, { rules }: SavedTables): Promise<Map<string, SetState>> {
  const named = [...rules.values()]
    .flat()
    .filter((rule) => rule.includes('--match-set'))
    .flatMap((rule) => readRule(rule).conditions)
    .flatMap(({ option, values }) => (option === '--match-set' ? values.slice(0, 1) : []));
  const sets = new Map<string, SetState>();
  for (const name of new Set(named)) {
    const state = await ipset.get(name);
    if (state) sets.set(name, state);
  }
  return sets;
}

async function readSettings(
  sysctl: Pick<Sysctl, 'read'>,
  names: readonly string[],
): Promise<Map<string, string>> {
  const values = await Promise.all(names.map(async (name) => [name, await sysctl.read(name)] as const));
  return new Map(values.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
}
