// The translation of a flow's addresses, which the kernel lists only indirectly.
import type { Flow } from './types.js';

/** An address and port. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** The ends of a flow to which NAT translates those of its original packets. */
export interface FlowNat {
  readonly source?: Endpoint;
  readonly destination?: Endpoint;
}

/** The translations of a flow: of its source with `SRC_NAT` in its status, of its destination with `DST_NAT`. */
export function natOf({ status, reply }: Pick<Flow, 'status' | 'reply'>): FlowNat {
  return {
    ...(status.includes('SRC_NAT') && {
      source: { address: reply.destination, port: reply.destinationPort },
    }),
    ...(status.includes('DST_NAT') && { destination: { address: reply.source, port: reply.sourcePort } }),
  };
}
