// The values that expressions load from a packet, its connection and the routes. Pure.

import { parseAddress } from '../../../kernel/net/address.js';
import { PROTOCOL_NUMBERS } from '../../../kernel/net/protocol.js';
import type { Expression } from '../../../kernel/nftables/types.js';
import type { Packet } from '../packet/packet.js';
import { hostOrder, networkOrder } from './registers.js';

/** Offsets of addresses in the network header, in bytes. */
const ADDRESSES = { 4: { source: 12, destination: 16 }, 6: { source: 8, destination: 24 } } as const;

/** `NF_CT_STATE_BIT(IP_CT_NEW)` and of `IP_CT_ESTABLISHED`. */
const STATE = { NEW: 8, ESTABLISHED: 2 } as const;
/** `IPS_DST_NAT` */
const DST_NAT = 0x20;
/** `RTN_UNICAST`, `RTN_LOCAL` */
const ADDRESS_TYPE = { unicast: 1, local: 2 } as const;
/** `IFNAMSIZ` */
const LINK_NAME = 16;

/** What the node knows of addresses. */
export interface LoadContext {
  isLocal(address: string): boolean;
}

/** The value that an expression loads; undefined if it is not known of the described packet. */
export function loaded(
  expression: Extract<Expression, { kind: 'payload' | 'meta' | 'ct' | 'fib' }>,
  packet: Packet,
  { isLocal }: LoadContext,
): Uint8Array | undefined {
  switch (expression.kind) {
    case 'payload':
      return payload(expression, packet);
    case 'meta':
      return meta(expression.key, packet);
    case 'ct':
      if (expression.key === 'state') return hostOrder(STATE[packet.state]);
      return expression.key === 'status' ? hostOrder(packet.translated ? DST_NAT : 0) : undefined;
    case 'fib': {
      const [flag, ...others] = expression.flags;
      if (expression.result !== 'type' || others.length > 0) return undefined;
      if (flag !== 'saddr' && flag !== 'daddr') return undefined;
      const address = flag === 'saddr' ? packet.source : packet.destination;
      return hostOrder(isLocal(address) ? ADDRESS_TYPE.local : ADDRESS_TYPE.unicast);
    }
  }
}

function payload(
  { base, offset, length }: Extract<Expression, { kind: 'payload' }>,
  packet: Packet,
): Uint8Array | undefined {
  if (base === 'transport') {
    const ports = Uint8Array.of(...networkOrder(packet.sourcePort), ...networkOrder(packet.port));
    return offset + length <= ports.length ? ports.subarray(offset, offset + length) : undefined;
  }
  if (base !== 'network') return undefined;
  const at = ADDRESSES[packet.family];
  const size = packet.family === 4 ? 4 : 16;
  const addresses = new Uint8Array(2 * size);
  addresses.set(parseAddress(packet.source) ?? [], 0);
  addresses.set(parseAddress(packet.destination) ?? [], size);
  const start = offset - at.source;
  return start >= 0 && start + length <= addresses.length
    ? addresses.subarray(start, start + length)
    : undefined;
}

function meta(key: Extract<Expression, { kind: 'meta' }>['key'], packet: Packet): Uint8Array | undefined {
  switch (key) {
    case 'l4proto':
      return Uint8Array.of(PROTOCOL_NUMBERS[packet.protocol]);
    case 'nfproto':
      return Uint8Array.of(packet.family === 4 ? 2 : 10);
    case 'mark':
      return hostOrder(packet.mark);
    case 'iifname':
      return linkName(packet.input);
    case 'oifname':
      return linkName(packet.output);
    default:
      return undefined;
  }
}

function linkName(name = ''): Uint8Array {
  const bytes = new Uint8Array(LINK_NAME);
  bytes.set(Buffer.from(name).subarray(0, LINK_NAME - 1));
  return bytes;
}
