// Addresses and entries as bytes.
import type { SetEntry } from '../src/kernel/ipset/types.js';
import { parseAddress } from '../src/kernel/net/address.js';

/** The bytes of an address in network order, followed by zeros up to `size`. Throws for a text that is not an address. */
export function addressBytes(address: string, size: number): Uint8Array {
  const parsed = parseAddress(address);
  if (!parsed || parsed.length > size) throw new Error(`${address} is not an address of ${size} bytes`);
  const bytes = new Uint8Array(size);
  bytes.set(parsed);
  return bytes;
}

const PROTOCOLS: Readonly<Record<string, number>> = { tcp: 6, udp: 17, sctp: 132 };

/** Entries as `addEntriesWithLibipset` of the addon takes them: address, port in the machine's byte order, protocol, 0. */
export function packedEntries(entries: readonly SetEntry[]): Uint8Array {
  const bytes = new Uint8Array(entries.length * 8);
  for (const [place, { address, port = 0, protocol = 0 }] of entries.entries()) {
    if (address === undefined) throw new Error('an entry without an address');
    bytes.set(addressBytes(address, 4), place * 8);
    bytes.set(new Uint8Array(Uint16Array.of(port).buffer), place * 8 + 4);
    bytes[place * 8 + 6] = typeof protocol === 'number' ? protocol : (PROTOCOLS[protocol] ?? 0);
  }
  return bytes;
}
