// The translation of a flow's addresses, which the kernel lists only indirectly.
import { canonicalAddressAsIs } from '../net/address.js';
import {
  argumentError,
  checkArray,
  checkObject,
  type InvalidValue,
  invalidInteger,
} from '../shared/arguments.js';
import type { Flow, FlowTuple } from './types.js';

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
export function natOf(flow: Pick<Flow, 'status' | 'reply'>): FlowNat {
  const operation = 'conntrack.natOf';
  checkObject(operation, 'flow', flow);
  const { status, reply } = flow;
  checkArray(operation, 'flow.status', status);
  checkObject(operation, 'flow.reply', reply);
  const invalid = invalidStatus(status) ?? invalidTuple(reply);
  if (invalid) throw argumentError(operation, invalid);
  return {
    ...(status.includes('SRC_NAT') && {
      source: { address: reply.destination, port: reply.destinationPort },
    }),
    ...(status.includes('DST_NAT') && { destination: { address: reply.source, port: reply.sourcePort } }),
  };
}

function invalidStatus(status: readonly unknown[]): InvalidValue | undefined {
  const place = status.findIndex((flag) => typeof flag !== 'string' || !/^[A-Z_]+$|^BIT_\d+$/.test(flag));
  if (place < 0) return undefined;
  return {
    field: `flow.status[${place}]`,
    value: status[place],
    rule: 'must be the name of a flag',
    wrongType: true,
  };
}

function invalidTuple(tuple: FlowTuple): InvalidValue | undefined {
  for (const field of ['source', 'destination'] as const) {
    const value: unknown = tuple[field];
    if (typeof value === 'string' && canonicalAddressAsIs(value) !== undefined) continue;
    const rule = 'must be an IPv4 or IPv6 address';
    return { field: `flow.reply.${field}`, value, rule, wrongType: typeof value !== 'string' };
  }
  const { sourcePort, destinationPort } = tuple;
  return (
    invalidInteger('flow.reply.sourcePort', sourcePort, 0, 65535) ??
    invalidInteger('flow.reply.destinationPort', destinationPort, 0, 65535)
  );
}
