// The target DNAT. Source: iptables-extensions(8).
import { canonicalAddress, joinHostPort } from '../../../kernel/net/address.js';
import type { Packet } from './packet.js';

/** A packet with a new destination. */
interface Translated {
  readonly packet: Packet;
  /** `address:port`. */
  readonly destination: string;
}

/**
 * The packet after a target; undefined for other targets than DNAT, and for a destination that is a range.
 *
 * @param options of the target, see `Rule.targetOptions`
 */
export function translatedBy(
  target: string,
  options: ReadonlyMap<string, string>,
  packet: Packet,
): Translated | undefined {
  if (target !== 'DNAT') return undefined;
  const written = options.get('to-destination') ?? '';
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([\d.]+))(?::(\d+))?$/.exec(written) ?? [];
  const destination = canonicalAddress(bracketed ?? plain ?? written);
  if (destination === undefined) return undefined;
  const port = digits === undefined ? packet.port : Number(digits);
  return {
    packet: { ...packet, destination, port, translated: true },
    destination: joinHostPort(destination, port),
  };
}
