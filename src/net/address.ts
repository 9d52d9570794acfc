// IP addresses: text as Kubernetes and people write it, canonical text (RFC 5952) as we key by it, bytes as the kernel
// takes them. Canonical text is the one spelling used everywhere above the kernel.

/** An IP family, as a number that reads well in messages. */
export type Family = 4 | 6;

/**
 * Reads an IP address leniently, as Kubernetes does: decimal octets may have leading zeros (`010.0.0.1` is 10.0.0.1, never
 * octal), IPv4-mapped IPv6 text is IPv4. Zones (`fe80::1%eth0`) and everything else are refused.
 *
 * @returns 4 or 16 bytes in network order, or undefined when the text is no address.
 */
export function parseAddress(text: string): Uint8Array | undefined {
  return text.includes(':') ? parseIPv6(text) : parseIPv4(text);
}

/** The canonical text of 4 or 16 bytes (RFC 5952; as Go's `net.IP.String`). */
export function formatAddress(bytes: Uint8Array): string {
  return bytes.length === 4 ? bytes.join('.') : formatIPv6(bytes);
}

/** The canonical spelling of an address, or undefined when the text is no address. */
export function canonicalAddress(text: string): string | undefined {
  const bytes = parseAddress(text);
  return bytes && formatAddress(bytes);
}

/** The family of a canonical address. */
export function familyOf(address: string): Family {
  return address.includes(':') ? 6 : 4;
}

/** `10.0.0.1:80`, `[fd00::1]:80`: an address and port as every tool prints them. */
export function joinHostPort(address: string, port: number | string): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** True for 127.0.0.0/8 and ::1, given a canonical address. */
export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/** True for fe80::/10, given a canonical address. */
export function isLinkLocalIPv6(address: string): boolean {
  return /^fe[89ab][0-9a-f]:/.test(address);
}

function parseIPv4(text: string): Uint8Array | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  const bytes = new Uint8Array(4);
  for (const [i, part] of parts.entries()) {
    if (!/^[0-9]+$/.test(part)) return undefined;
    const value = Number(part);
    if (value > 255) return undefined;
    bytes[i] = value;
  }
  return bytes;
}

function parseIPv6(text: string): Uint8Array | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = groupsOf(halves[0] ?? '', halves.length === 1);
  const tail = halves.length === 2 ? groupsOf(halves[1] ?? '', true) : [];
  if (!head || !tail) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...new Array<number>(missing).fill(0), ...tail];
  const bytes = new Uint8Array(16);
  for (const [i, group] of groups.entries()) {
    bytes[2 * i] = group >> 8;
    bytes[2 * i + 1] = group & 255;
  }
  const mapped = groups.slice(0, 5).every((g) => g === 0) && groups[5] === 0xffff;
  return mapped ? bytes.slice(12) : bytes;
}

/** The 16-bit groups of one side of `::`; a dotted IPv4 address may stand as the last two groups of the whole text. */
function groupsOf(text: string, last: boolean): number[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const groups: number[] = [];
  for (const [i, part] of parts.entries()) {
    if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      groups.push(Number.parseInt(part, 16));
    } else if (last && i === parts.length - 1 && part.includes('.')) {
      const bytes = parseIPv4(part);
      if (!bytes) return undefined;
      groups.push(((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0), ((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0));
    } else {
      return undefined;
    }
  }
  return groups;
}

function formatIPv6(bytes: Uint8Array): string {
  const groups: number[] = [];
  for (let i = 0; i < 16; i += 2) groups.push(((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0));
  const zeros = longestZeroRun(groups);
  const hex = (part: number[]) => part.map((g) => g.toString(16)).join(':');
  if (zeros.length < 2) return hex(groups);
  return `${hex(groups.slice(0, zeros.start))}::${hex(groups.slice(zeros.start + zeros.length))}`;
}

/** The first longest run of zero groups (RFC 5952, 4.2.3). */
function longestZeroRun(groups: number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (let i = 0; i <= groups.length; i++) {
    if (i < groups.length && groups[i] === 0) continue;
    if (i - start > best.length) best = { start, length: i - start };
    start = i + 1;
  }
  return best;
}
