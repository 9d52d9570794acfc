// Limits the frontends of a Service before any of them is made: they are a product of lists, and a tenant makes the lists.
import { type Family, familyOf } from '../../kernel/net/address.js';
import type { Service } from './types.js';

/**
 * Maximum number of frontends of a Service. A load-balancer IP counts once for each of its source ranges, because modes program
 * each pair.
 */
export const MOST_FRONTENDS = 100_000;

/** Whether this proxy serves a Service: headless and ExternalName Services, and those of other proxies, are ignored. */
export function isProxied(service: Service): boolean {
  const headless = service.clusterIPs[4] === undefined && service.clusterIPs[6] === undefined;
  return !service.notOurs && !headless && service.type !== 'ExternalName';
}

/** The number of frontends of a Service, as {@link MOST_FRONTENDS} counts them; 0 if it is not proxied. Makes none of them. */
export function frontendCount(service: Service): number {
  if (!isProxied(service)) return 0;
  let count = 0;
  for (const family of [4, 6] as const) {
    if (service.clusterIPs[family] === undefined) continue;
    const outside = numberOf(service.externalIPs, family);
    const balanced = numberOf(service.loadBalancerIPs, family);
    const ranges = balanced === 0 ? 0 : numberOf(service.sourceRanges, family);
    const ofPort = 1 + outside + balanced * Math.max(1, ranges);
    for (const { nodePort } of service.ports) count += nodePort === 0 ? ofPort : ofPort + 1;
  }
  return count;
}

/** Number of addresses or networks of a family. */
function numberOf(texts: readonly string[], family: Family): number {
  let number = 0;
  for (const text of texts) if (familyOf(text) === family) number++;
  return number;
}
