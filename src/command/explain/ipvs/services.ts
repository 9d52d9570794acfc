// The virtual service that accepts a packet. Source: ip_vs_service_find of net/netfilter/ipvs/ip_vs_ctl.c.
import type { AddressId, VirtualService, VirtualServiceId } from '../../../kernel/ipvs/types.js';
import { joinHostPort } from '../../../kernel/net/address.js';
import type { ExplainedServer } from './facts.js';

/** The name of a virtual service as ipvsadm prints it: `TCP 10.96.0.10:53`, `FWM 7`. */
export function serviceName(id: VirtualServiceId): string {
  if ('firewallMark' in id) return `FWM ${id.firewallMark}`;
  return `${String(id.protocol).toUpperCase()} ${joinHostPort(id.address, id.port)}`;
}

/** The virtual services that may accept packets to an address and port: by mark, by address and port, and for all ports. */
export function candidates(services: readonly VirtualService[], dialled: AddressId): VirtualService[] {
  return services.filter((service) => {
    if ('firewallMark' in service) return true;
    const { address, port, protocol } = service;
    return (
      address === dialled.address && protocol === dialled.protocol && (port === dialled.port || port === 0)
    );
  });
}

/** The virtual service for a packet with a mark. A mark is looked up first, the service for all ports last. */
export function findService(
  services: readonly VirtualService[],
  dialled: AddressId,
  mark: number,
): VirtualService | undefined {
  const found = candidates(services, dialled);
  const byMark = found.find((service) => 'firewallMark' in service && service.firewallMark === mark);
  const byPort = (port: number) =>
    found.find((service) => !('firewallMark' in service) && service.port === port);
  return (mark === 0 ? undefined : byMark) ?? byPort(dialled.port) ?? byPort(0);
}

/** Timeout of persistence, in s; 0 without it. */
export function persistenceOf({ persistence }: VirtualService): number {
  return persistence?.timeout ?? 0;
}

/** Whether a scheduler may select a real server: it has a weight, and is below its threshold. */
export function isSelectable(server: ExplainedServer): boolean {
  const { weight, upperThreshold, activeConnections, inactiveConnections } = server;
  return weight > 0 && (upperThreshold === 0 || activeConnections + inactiveConnections < upperThreshold);
}
