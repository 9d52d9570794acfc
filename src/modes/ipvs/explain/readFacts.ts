// Reads the state on which the path of a packet depends. Changes nothing.
import type { AddressId } from '../../../kernel/ipvs/types.js';
import { familyOf } from '../../../net/address.js';
import { type PathKernel, readPathFacts } from '../../shared/explain/readFacts.js';
import type { IpvsKernel } from '../kernel.js';
import { CONNTRACK, type ExplainedServer, type ExplainFacts } from './facts.js';
import { candidates, serviceName } from './services.js';

/** The parts of the kernel that an explanation reads. */
export type ExplainKernel = PathKernel & Pick<IpvsKernel, 'ipvs'>;

/** Reads the state for packets to an address and port. Rejects with the NetlinkError of the part that cannot be read. */
export async function readFacts(kernel: ExplainKernel, dialled: AddressId): Promise<ExplainFacts> {
  const family = familyOf(dialled.address);
  const facts = await readPathFacts(kernel, family, [CONNTRACK]);
  const services = (await kernel.ipvs.listServices()).filter((service) =>
    'firewallMark' in service ? service.family === family : familyOf(service.address) === family,
  );
  const realServers = new Map<string, readonly ExplainedServer[]>();
  for (const service of candidates(services, dialled)) {
    const state = await kernel.ipvs.get(service);
    if (state) realServers.set(serviceName(service), state.realServers);
  }
  return { ...facts, services, realServers };
}
