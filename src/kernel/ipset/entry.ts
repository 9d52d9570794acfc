// Entries of sets as ipset(8) writes them: what people paste into the tool, and what an entry is keyed by.
import type { SetEntry } from './types.js';

/**
 * An entry in the notation of `ipset save`: `10.96.0.10,udp:53`, `10.0.0.1,tcp:80,10.0.0.0/8`, `30080`,
 * `10.1.0.0/16 nomatch`. A prefix of the full length is left out, as ipset does. Two entries of one set are equal when
 * their texts are.
 */
export function formatEntry(entry: SetEntry): string {
  const parts: string[] = [];
  if (entry.address !== undefined) parts.push(withPrefix(entry.address, entry.prefix));
  if (entry.port !== undefined) {
    parts.push(entry.protocol === undefined ? `${entry.port}` : `${entry.protocol}:${entry.port}`);
  }
  if (entry.address2 !== undefined) parts.push(withPrefix(entry.address2, entry.prefix2));
  return parts.join(',') + (entry.noMatch ? ' nomatch' : '');
}

function withPrefix(address: string, prefix: number | undefined): string {
  if (prefix === undefined) return address;
  // Errors name entries that break every rule, too.
  const full = String(address).includes(':') ? 128 : 32;
  return prefix === full ? address : `${address}/${prefix}`;
}
