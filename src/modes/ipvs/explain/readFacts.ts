// Reads the state on which the path of a packet depends. Changes nothing.
import type { SetState } from '../../../kernel/ipset/types.js';
import type { SavedTables } from '../../../kernel/iptables/types.js';
import type { AddressId } from '../../../kernel/ipvs/types.js';
import type { ProcNet } from '../../../kernel/procNet/types.js';
import type { Rtnetlink } from '../../../kernel/rtnetlink/types.js';
import { familyOf } from '../../../net/address.js';
import { readRule } from '../../shared/packet/ruleText.js';
import type { IpvsKernel } from '../kernel.js';
import { type ExplainedServer, type ExplainFacts, settingNames } from './facts.js';
import { candidates, serviceName } from './services.js';

/** The parts of the kernel that an explanation reads. */
export type ExplainKernel = Pick<IpvsKernel, 'ipvs' | 'ipset' | 'iptables' | 'sysctl'> & {
  readonly rtnetlink: Pick<Rtnetlink, 'listLinks' | 'listAddresses'>;
  readonly procNet: ProcNet;
};

/** Reads the state for packets to an address and port. Rejects with the NetlinkError of the part that cannot be read. */
export async function readFacts(kernel: ExplainKernel, dialled: AddressId): Promise<ExplainFacts> {
  const family = familyOf(dialled.address);
  const tables = await kernel.iptables.saveTables(family);
  const services = (await kernel.ipvs.listServices()).filter((service) =>
    'firewallMark' in service ? service.family === family : familyOf(service.address) === family,
  );
  const realServers = new Map<string, readonly ExplainedServer[]>();
  for (const service of candidates(services, dialled)) {
    const state = await kernel.ipvs.get(service);
    if (state) realServers.set(serviceName(service), state.realServers);
  }
  const links = await kernel.rtnetlink.listLinks();
  return {
    family,
    tables,
    sets: await readSets(kernel, tables),
    services,
    realServers,
    links: new Map(links.map(({ name, kind }) => [name, kind])),
    addresses: await kernel.rtnetlink.listAddresses(),
    routes: await kernel.procNet.routes(family),
    sockets: await kernel.procNet.listeningSockets(),
    settings: await readSettings(kernel, Object.values(settingNames(family))),
  };
}

async function readSets({ ipset }: ExplainKernel, { rules }: SavedTables): Promise<Map<string, SetState>> {
  const conditions = [...rules.values()].flat().flatMap((rule) => readRule(rule).conditions);
  const named = conditions.flatMap(({ option, values }) =>
    option === '--match-set' ? values.slice(0, 1) : [],
  );
  const sets = new Map<string, SetState>();
  for (const name of new Set(named)) {
    const state = await ipset.get(name);
    if (state) sets.set(name, state);
  }
  return sets;
}

async function readSettings(
  { sysctl }: ExplainKernel,
  names: readonly string[],
): Promise<Map<string, string>> {
  const values = await Promise.all(names.map(async (name) => [name, await sysctl.read(name)] as const));
  return new Map(values.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
}
