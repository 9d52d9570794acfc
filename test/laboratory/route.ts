// A route to a Service.
import type { Dial, LabHost, Outcome } from './labHost.js';

/** A client and an address. */
export interface Route {
  /** `ClusterIP, from a pod`. */
  readonly name: string;
  readonly from: LabHost;
  readonly address: string;
  readonly port: number;
  /** Default `http`. */
  readonly protocol?: 'http' | 'udp';
}

/** Sends a request over a route. */
export function dial({ from, address, port, protocol }: Route, options?: Partial<Dial>): Promise<Outcome> {
  return protocol === 'udp' ? from.dialUdp(address, port, options) : from.dial(address, port, options);
}
