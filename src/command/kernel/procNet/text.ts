// The text of the files of /proc/net. Numbers are hexadecimal; addresses are 32-bit words in the order of the machine.
import { endianness } from 'node:os';
import { canonicalAddress, type Family, formatAddress } from '../../../kernel/net/address.js';
import { formatNetwork } from '../../../kernel/net/network.js';
import type { ListeningSocket, NetworkRoute } from './types.js';

/** RTF_REJECT of include/uapi/linux/route.h. */
const RTF_REJECT = 0x0200;
/** RTF_LOCAL of include/uapi/linux/ipv6_route.h: the route of an own address. */
const RTF_LOCAL = 0x8000_0000;
/** RTF_CACHE of include/uapi/linux/ipv6_route.h: learned for one destination. */
const RTF_CACHE = 0x0100_0000;
/** TCP_LISTEN and TCP_CLOSE of include/net/tcp_states.h. UDP sockets without a peer are in state CLOSE. */
const LISTENING = { tcp: 0x0a, udp: 0x07 } as const;

/** Reads /proc/net/route: the routes of table main. */
export function parseRoutes4(text: string): NetworkRoute[] {
  return rows(text, 8).map(([link = '', destination, gateway, flags, , , metric, mask]) => {
    const prefix = [...words(mask)].reduce((bits, byte) => bits + ones(byte), 0);
    const network = formatNetwork({ family: 4, bytes: words(destination), prefix });
    return route(network, formatAddress(words(gateway)), link, Number(metric), hex(flags));
  });
}

/** Reads /proc/net/ipv6_route: the routes of all tables. Routes of own addresses and cached ones are left out. */
export function parseRoutes6(text: string): NetworkRoute[] {
  return rows(text, 10, 0).flatMap(([destination, prefix, , , gateway, metric, , , flags, link = '']) => {
    if ((hex(flags) & (RTF_LOCAL | RTF_CACHE)) !== 0) return [];
    const network = formatNetwork({ family: 6, bytes: bytesOf(destination), prefix: hex(prefix) });
    return [route(network, formatAddress(bytesOf(gateway)), link, hex(metric), hex(flags))];
  });
}

/** Reads /proc/net/tcp, tcp6, udp or udp6: the sockets that listen. */
export function parseSockets(text: string, protocol: 'tcp' | 'udp'): ListeningSocket[] {
  return rows(text, 4).flatMap(([, local = '', , state]) => {
    if (hex(state) !== LISTENING[protocol]) return [];
    const [written, port] = local.split(':');
    // A socket of IPv6 that is bound to an IPv4 address has the mapped address.
    const address = canonicalAddress(formatAddress(words(written)));
    return address === undefined ? [] : [{ protocol, address, port: hex(port) }];
  });
}

/** The columns of each line, without the heading. Throws an Error for a line with fewer columns. */
function rows(text: string, columns: number, heading = 1): string[][] {
  const lines = text.split('\n').slice(heading).filter(Boolean);
  return lines.map((line) => {
    const row = line.trim().split(/\s+/);
    if (row.length < columns) throw new Error(`/proc/net: ${columns} columns expected, found: ${line}`);
    return row;
  });
}

function route(network: string, gateway: string, link: string, metric: number, flags: number): NetworkRoute {
  const direct = gateway === '0.0.0.0' || gateway === '::';
  return {
    network,
    ...(direct ? {} : { gateway }),
    link,
    metric,
    ...((flags & RTF_REJECT) !== 0 ? ({ rejects: true } as const) : {}),
  };
}

function hex(text = ''): number {
  return Number.parseInt(text, 16);
}

function bytesOf(text = ''): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'hex'));
}

/** The bytes of an address that is printed in words of 32 bits. */
function words(text = ''): Uint8Array {
  const bytes = bytesOf(text);
  if (endianness() === 'LE')
    for (let at = 0; at < bytes.length; at += 4) bytes.subarray(at, at + 4).reverse();
  return bytes;
}

function ones(byte: number): number {
  return byte === 0 ? 0 : (byte & 1) + ones(byte >> 1);
}

/** The names of the files with sockets, by protocol; those of IPv6 are missing in a kernel without it. */
export const SOCKET_FILES = { tcp: ['tcp', 'tcp6'], udp: ['udp', 'udp6'] } as const;

/** The name of the file with the routes of a family. */
export function routeFile(family: Family): string {
  return family === 4 ? 'route' : 'ipv6_route';
}
