// The virtual services of this network namespace, from a kernel that may list them wrongly.
import type { Ipvs, VirtualService } from '../../../../kernel/ipvs/types.js';
import { virtualServiceKey } from '../plan/items.js';

/** Listings at most. */
const MOST = 5;

/**
 * Lists the virtual services until two successive listings agree. Another network namespace of this kernel may add or delete virtual services
 * meanwhile: the kernel then lists some of ours twice, and leaves others out, see {@link Ipvs.list}. If no two listings agree, the result has
 * every virtual service of any listing.
 */
export async function listServices(ipvs: Pick<Ipvs, 'listServices'>): Promise<VirtualService[]> {
  const seen = new Map<string, VirtualService>();
  let last: readonly string[] | undefined;
  for (let listings = 0; listings < MOST; listings++) {
    const services = await ipvs.listServices();
    const keys: string[] = [];
    let agree = services.length === last?.length;
    for (const service of services) {
      const key = keyOf(service);
      agree &&= key === last?.[keys.length];
      keys.push(key);
      seen.set(key, service);
    }
    if (agree) return services;
    last = keys;
  }
  return [...seen.values()];
}

function keyOf(service: VirtualService): string {
  return 'address' in service ? virtualServiceKey(service) : `firewall mark ${service.firewallMark}`;
}
