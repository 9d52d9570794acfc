// Entries of sets in the notation of ipset(8), which is also the key of an entry.
import { protocolOfNumber } from '../../net/protocol.js';
import type { SetEntry } from '../types.js';

/**
 * An entry in the notation of ipset(8): `10.96.0.10,udp:53`, `10.0.0.1,tcp:80,10.0.0.0/8`, `30080`,
 * `10.1.0.0/16 nomatch`, `10.0.0.1-10.0.0.9,tcp:80-90`, `10.0.0.1,1:8/0` (ICMP). A prefix of the full length is left out, as
 * ipset does; protocols other than TCP, UDP and SCTP are numbers, which ipset reads but prints by name. Two listed entries of
 * one set are equal when their texts are: extensions, as timeout and comment, and `attributes` are not part of it.
 */
export function formatEntry(entry: SetEntry): string {
  const { before, after, noMatch, wildcard } = entry;
  let text = formatElement(entry, numericProtocol);
  if (before !== undefined) text += ` before ${before}`;
  if (after !== undefined) text += ` after ${after}`;
  if (noMatch) text += ' nomatch';
  return wildcard ? `${text} wildcard` : text;
}

/** The parts of an entry that are separated by commas, with `protocolText` for the protocol and its port or ICMP type. */
export function formatElement(entry: SetEntry, protocolText: (entry: SetEntry) => string): string {
  const parts: string[] = [];
  if (entry.address !== undefined) parts.push(block(entry.address, entry.prefix, entry.lastAddress));
  if (entry.protocol !== undefined) parts.push(protocolText(entry) + rangeEnd(entry.lastPort));
  else if (entry.port !== undefined) parts.push(entry.port + rangeEnd(entry.lastPort));
  if (entry.address2 !== undefined) parts.push(block(entry.address2, entry.prefix2, entry.lastAddress2));
  if (entry.mac !== undefined) parts.push(String(entry.mac).toUpperCase());
  if (entry.mark !== undefined) parts.push(hexadecimal(entry.mark));
  if (entry.interface !== undefined) parts.push(`${entry.physdev ? 'physdev:' : ''}${entry.interface}`);
  if (entry.set !== undefined) parts.push(entry.set);
  return parts.join(',');
}

/** `0x00000063`. */
export function hexadecimal(number: number): string {
  return `0x${Number(number).toString(16).padStart(8, '0')}`;
}

function numericProtocol({ protocol, port, icmp }: SetEntry): string {
  const name = typeof protocol === 'number' ? (protocolOfNumber(protocol) ?? protocol) : protocol;
  return icmp ? `${name}:${icmp.type}/${icmp.code}` : `${name}:${port ?? 0}`;
}

function rangeEnd(last: string | number | undefined): string {
  return last === undefined ? '' : `-${last}`;
}

function block(address: string, prefix: number | undefined, last: string | undefined): string {
  if (prefix === undefined) return `${address}${rangeEnd(last)}`;
  // Errors name entries that break every rule, too.
  const full = String(address).includes(':') ? 128 : 32;
  return prefix === full ? address : `${address}/${prefix}`;
}
