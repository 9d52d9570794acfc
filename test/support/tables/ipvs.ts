// Short constructors of virtual services and real servers for tests.
import type { IpvsOperation, RealServer, VirtualService } from '../../../src/kernel/ipvs/index.js';

type ServiceOperation = Extract<IpvsOperation, { service: unknown }>;
type AddressService = Extract<VirtualService, { address: string }>;

/** A TCP service on 10.96.0.1:443 with round robin; the given fields override this. */
export function service(changes: Partial<AddressService> = {}): AddressService {
  return {
    address: '10.96.0.1',
    port: 443,
    protocol: 'tcp',
    scheduler: 'rr',
    schedulerFlags: [],
    onePacket: false,
    ...changes,
  };
}

/** A masqueraded real server on 10.0.0.4:6443 with weight 1; the given fields override this. */
export function server(changes: Partial<RealServer> = {}): RealServer {
  return {
    address: '10.0.0.4',
    port: 6443,
    weight: 1,
    forwarding: 'masquerade',
    upperThreshold: 0,
    lowerThreshold: 0,
    ...changes,
  };
}

/** Additions of `services` services with `servers` real servers each. */
export function additions(services: number, servers: number): ServiceOperation[] {
  return Array.from({ length: services }, (_, i): ServiceOperation[] => {
    const parent = service({ address: `10.${100 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}` });
    const children = Array.from({ length: servers }, (_, j): ServiceOperation => {
      return {
        do: 'addRealServer',
        service: parent,
        realServer: server({ address: `10.1.${j >> 8}.${j & 255}` }),
      };
    });
    return [{ do: 'addService', service: parent }, ...children];
  }).flat();
}
