// Entries of sets in the notation of ipset(8), which is also the key of an entry.
import { protocolOfNumber } from '../../net/protocol.js';
import type { SetEntry } from './types.js';

/**
 * An entry in the notation of ipset(8): `10.96.0.10,udp:53`, `10.0.0.1,tcp:80,10.0.0.0/8`, `30080`,
 * `10.1.0.0/16 nomatch`, `10.0.0.1,1:8/0` (ICMP). A prefix of the full length is left out, as ipset does; protocols other
 * than TCP, UDP and SCTP are numbers, which ipset reads but prints by name. Two entries of one set are equal when their
 * texts are: `attributes` is no part of it.
 */
export function formatEntry(entry: SetEntry): string {
  const parts: string[] = [];
  if (entry.address !== undefined) parts.push(withPrefix(entry.address, entry.prefix));
  if (entry.protocol !== undefined) parts.push(formatProtocol(entry));
  else if (entry.port !== undefined) parts.push(`${entry.port}`);
  if (entry.address2 !== undefined) parts.push(withPrefix(entry.address2, entry.prefix2));
  if (entry.mac !== undefined) parts.push(entry.mac);
  if (entry.mark !== undefined) parts.push(`0x${Number(entry.mark).toString(16)}`);
  if (entry.interface !== undefined) parts.push(`${entry.physdev ? 'physdev:' : ''}${entry.interface}`);
  if (entry.set !== undefined) parts.push(entry.set);
  return parts.join(',') + (entry.wildcard ? ' wildcard' : '') + (entry.noMatch ? ' nomatch' : '');
}

function formatProtocol({ protocol, port, icmp }: SetEntry): string {
  const name = typeof protocol === 'number' ? (protocolOfNumber(protocol) ?? protocol) : protocol;
  return icmp ? `${name}:${icmp.type}/${icmp.code}` : `${name}:${port ?? 0}`;
}

function withPrefix(address: string, prefix: number | undefined): string {
  if (prefix === undefined) return address;
  // Errors name entries that break every rule, too.
  const full = String(address).includes(':') ? 128 : 32;
  return prefix === full ? address : `${address}/${prefix}`;
}
