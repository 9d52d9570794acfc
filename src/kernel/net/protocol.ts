// The transport protocols of Services, and their IP protocol numbers.

/** A transport protocol, as ipset and ipvsadm write it. */
export type Protocol = 'tcp' | 'udp' | 'sctp';

/** `tcp`, `udp`, `sctp`, or the IP protocol number (1–255) of any other. */
export type IpProtocol = Protocol | number;

/** IP protocol numbers (IANA; `IPPROTO_TCP`, `IPPROTO_UDP`, `IPPROTO_SCTP`). */
export const PROTOCOL_NUMBERS: Readonly<Record<Protocol, number>> = { tcp: 6, udp: 17, sctp: 132 };

/** The protocol with this IP protocol number; undefined if no Service can have it. */
export function protocolOfNumber(number: number): Protocol | undefined {
  if (number === 6) return 'tcp';
  if (number === 17) return 'udp';
  return number === 132 ? 'sctp' : undefined;
}
