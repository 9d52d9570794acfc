// A packet, as rules see it, and the state of the node that rules refer to.
import type { SetState } from '../../../kernel/ipset/types.js';
import type { AddressId } from '../../../kernel/ipvs/types.js';
import type { Family } from '../../../kernel/net/address.js';
import type { Protocol } from '../../../kernel/net/protocol.js';

/**
 * The client's port in explanations: the kernel of the client selects one from a range, by default 32768 to 60999
 * (`ip_local_port_range`).
 */
export const CLIENT_PORT = 50_000;

/** A packet in one chain. */
export interface Packet {
  readonly family: Family;
  readonly protocol: Protocol;
  /** Canonical addresses. */
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number;
  readonly port: number;
  /** The packet's mark, 32 bits. */
  readonly mark: number;
  /** The state of its connection in conntrack: its first packet is new, a reply is established. */
  readonly state: 'NEW' | 'ESTABLISHED';
  /** Name of the input link; absent for a packet of the node itself. */
  readonly input?: string;
  /** Name of the output link; absent before the routing decision. */
  readonly output?: string;
  /** It arrived on a port of a bridge, whose frames pass netfilter. */
  readonly fromBridgePort: boolean;
  /** The virtual service of its IPVS connection; absent before IPVS. */
  readonly via?: AddressId;
  /** A rule replaced the destination of its connection (status DNAT of conntrack). */
  readonly translated?: true;
}

/** State of the node that rules refer to. */
export interface RuleContext {
  /** The sets by name. */
  readonly sets: ReadonlyMap<string, SetState>;
  /** Whether an address is one of the node. */
  isLocal(address: string): boolean;
  /** Whether a list of the match `recent` has the source of the packet; absent: unknown for all lists. */
  isRecent?(list: string, packet: Packet): Tested;
}

/** The result of a test: true, false, or undefined if it is not understood. */
export type Tested = boolean | undefined;

/** True if all are true, false if one is false. */
export function all(tests: readonly Tested[]): Tested {
  if (tests.includes(false)) return false;
  return tests.includes(undefined) ? undefined : true;
}
