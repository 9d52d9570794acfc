// IP addresses as text, as canonical text (RFC 5952), and as bytes for the kernel. All code above the kernel uses canonical
// text.
//
// An IPv4-mapped IPv6 address (::ffff:10.0.0.1) is an IPv4 address for Kubernetes and an IPv6 address for the kernel. The functions
// with `AsIs` in their names read it as the kernel does; all others as Kubernetes does. Octets with leading zeros are decimal for
// Kubernetes, octal for iproute2 and libc, and invalid for inet_pton(): the functions with `AsIs` refuse them.

/** An IP family: IPv4 or IPv6. */
export type Family = 4 | 6;

/**
 * Parses an IP address as leniently as Kubernetes: octets may have leading zeros and are decimal (`010.0.0.1` is 10.0.0.1),
 * and an IPv4-mapped IPv6 address is an IPv4 address. A zone (`fe80::1%eth0`) is not allowed.
 *
 * @returns 4 or 16 bytes in network order; undefined if the text is not an address.
 */
export function parseAddress(text: string): Uint8Array | undefined {
  const bytes = parse(text, true);
  return bytes?.length === 16 && isMapped(bytes) ? bytes.slice(12) : bytes;
}

/** Like {@link parseAddress}, but an IPv4-mapped IPv6 address has 16 bytes, and octets have no leading zeros. */
export function parseAddressAsIs(text: string): Uint8Array | undefined {
  return parse(text, false);
}

function parse(text: string, zeros: boolean): Uint8Array | undefined {
  const bytes = new Uint8Array(16);
  const family = readAddress(text, bytes, 0, zeros);
  if (family === undefined) return undefined;
  return family === 6 ? bytes : bytes.slice(0, 4);
}

/**
 * Like {@link parseAddressAsIs}, without an allocation: writes 16 bytes at `at`; an IPv4 address has the first four, and the
 * others are zero. If the text is not an address, it returns undefined and the 16 bytes have no defined value.
 */
export function readAddressAsIs(text: string, bytes: Uint8Array, at: number): Family | undefined {
  return readAddress(text, bytes, at, false);
}

/** @param zeros whether octets may have leading zeros */
function readAddress(text: string, bytes: Uint8Array, at: number, zeros: boolean): Family | undefined {
  if (!text.includes(':')) return readIPv4(text, 0, bytes, at, zeros) ? 4 : undefined;
  return readIPv6(text, bytes, at, zeros) ? 6 : undefined;
}

/** 4 bytes for an address that is being read. */
const four = new Uint8Array(4);

/** The 32 bits of an IPv4 address as a number; undefined if the text is not an address in dotted notation, without leading zeros. */
export function numberOfIPv4(text: string): number | undefined {
  if (!readIPv4(text, 0, four, 0, false)) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = four;
  return a * 2 ** 24 + ((b << 16) | (c << 8) | d);
}

/** The canonical text of 4 or 16 bytes (RFC 5952). That of an IPv4-mapped address is `::ffff:10.0.0.1`. */
export function formatAddress(bytes: Uint8Array): string {
  return formatAddressAt(bytes, 0, bytes.length);
}

/** The same of the 4 or 16 bytes at a place. */
export function formatAddressAt(bytes: Uint8Array, at: number, size: number): string {
  return size === 4 ? formatIPv4At(bytes, at) : formatIPv6At(bytes, at);
}

/** The texts of all bytes with a dot: an address is then made from four texts instead of seven, with as many copies less. */
const DOTTED = Array.from({ length: 256 }, (_, byte) => `${byte}.`);

/** The text of the 4 bytes of an IPv4 address at a place. */
export function formatIPv4At(bytes: Uint8Array, at: number): string {
  const network = `${DOTTED[bytes[at] as number]}${DOTTED[bytes[at + 1] as number]}`;
  return `${network}${DOTTED[bytes[at + 2] as number]}${bytes[at + 3]}`;
}

/** The canonical text of an address; undefined if the text is not an address. */
export function canonicalAddress(text: string): string | undefined {
  // Nearly all addresses are such, and an allocation for each takes as long as the rest.
  if (readIPv4(text, 0, four, 0, true)) return formatAddress(four);
  const bytes = parseAddress(text);
  return bytes && formatAddress(bytes);
}

/** Like {@link canonicalAddress}, but an IPv4-mapped IPv6 address stays one, and octets have no leading zeros. */
export function canonicalAddressAsIs(text: string): string | undefined {
  const bytes = parseAddressAsIs(text);
  return bytes && formatAddress(bytes);
}

/** The family of a canonical address. */
export function familyOf(address: string): Family {
  return address.includes(':') ? 6 : 4;
}

/** An address and port: `10.0.0.1:80`, `[fd00::1]:80`. */
export function joinHostPort(address: string, port: number | string): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** Whether a canonical address is in 127.0.0.0/8 or is ::1. */
export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/** Whether a canonical address is in fe80::/10. */
export function isLinkLocalIPv6(address: string): boolean {
  return /^fe[89ab][0-9a-f]:/.test(address);
}

/** Uses of addresses that no client on another host can connect to, or that several hosts have. */
export type SpecialUse = 'unspecified' | 'loopback' | 'link-local' | 'multicast' | 'broadcast';

/** The special use of a canonical address; undefined for an ordinary unicast address. */
export function specialUse(address: string): SpecialUse | undefined {
  if (address === '0.0.0.0' || address === '::') return 'unspecified';
  if (isLoopback(address)) return 'loopback';
  if (address === '255.255.255.255') return 'broadcast';
  if (address.startsWith('169.254.') || isLinkLocalIPv6(address)) return 'link-local';
  return MULTICAST.test(address) ? 'multicast' : undefined;
}

/** 224.0.0.0/4 and ff00::/8. */
const MULTICAST = /^(?:2(?:2[4-9]|3\d)\.|ff[0-9a-f]{2}:)/;

const DOT = 0x2e;
const COLON = 0x3a;

/** Parses four decimal octets, from `start` to the end of the text, into 4 bytes at `at`. */
function readIPv4(text: string, start: number, bytes: Uint8Array, at: number, zeros: boolean): boolean {
  let dots = 0;
  let octet = -1; // none yet
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === DOT) {
      if (octet < 0 || dots === 3) return false;
      bytes[at + dots++] = octet;
      octet = -1;
      continue;
    }
    const digit = code - 0x30;
    if (digit < 0 || digit > 9 || (octet === 0 && !zeros)) return false;
    octet = (octet < 0 ? 0 : octet * 10) + digit;
    if (octet > 255) return false;
  }
  if (octet < 0 || dots !== 3) return false;
  bytes[at + 3] = octet;
  return true;
}

/** The value of each hexadecimal digit by its code, -1 for other codes of ASCII. */
const HEX_DIGITS = Int8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[0-9a-f]/i.test(character) ? Number.parseInt(character, 16) : -1;
});

/** Parses the whole text into 16 bytes at `at`. */
function readIPv6(text: string, bytes: Uint8Array, at: number, zeros: boolean): boolean {
  let filled = 0; // number of bytes so far
  let gap = -1; // number of bytes before `::`
  let i = 0;
  if (text.charCodeAt(0) === COLON) {
    if (text.charCodeAt(1) !== COLON) return false;
    gap = 0;
    i = 2;
  }
  while (i < text.length) {
    if (filled === 16) return false;
    const start = i;
    let group = 0;
    let end = COLON; // also at the end of the text
    for (; i < text.length; i++) {
      const code = text.charCodeAt(i);
      const digit = HEX_DIGITS[code] ?? -1;
      if (digit < 0) {
        end = code;
        break;
      }
      group = (group << 4) | digit;
    }
    if (end === DOT) {
      // The last 4 bytes may be in dotted notation.
      if (filled > 12 || !readIPv4(text, start, bytes, at + filled, zeros)) return false;
      filled += 4;
      break;
    }
    if (end !== COLON || i === start || i - start > 4) return false;
    bytes[at + filled++] = group >> 8;
    bytes[at + filled++] = group & 255;
    if (i === text.length) break;
    i++;
    if (text.charCodeAt(i) === COLON) {
      if (gap >= 0) return false;
      gap = filled;
      i++;
    } else if (i === text.length) {
      return false; // a colon at the end
    }
  }
  if (gap < 0) return filled === 16;
  if (filled > 14) return false; // `::` replaces at least one group
  // Loops: for so few bytes, copyWithin() and fill() take several times as long.
  const shift = 16 - filled;
  for (let i = filled - 1; i >= gap; i--) bytes[at + i + shift] = bytes[at + i] ?? 0;
  for (let i = gap; i < gap + shift; i++) bytes[at + i] = 0;
  return true;
}

/** ::ffff:0:0/96. */
function isMapped(bytes: Uint8Array): boolean {
  for (let i = 0; i < 10; i++) if (bytes[i] !== 0) return false;
  return bytes[10] === 0xff && bytes[11] === 0xff;
}

/** The texts of all bytes, without and with a leading zero: toString(16) takes several times as long. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16));
const HEX_PADDED = HEX.map((text) => text.padStart(2, '0'));

function formatIPv6At(bytes: Uint8Array, at: number): string {
  const zeros = longestZeroRun(bytes, at);
  if (zeros === MAPPED_RUN && bytes[at + 10] === 0xff && bytes[at + 11] === 0xff) {
    return `::ffff:${formatIPv4At(bytes, at + 12)}`;
  }
  const start = zeros >> 8;
  const end = zeros & 255;
  let text = '';
  for (let i = 0; i < 16; i += 2) {
    if (i === start) {
      text += '::';
      i = end - 2;
      continue;
    }
    if (i > 0 && i !== end) text += ':';
    const high = bytes[at + i] ?? 0;
    const low = bytes[at + i + 1] ?? 0;
    text += high === 0 ? HEX[low] : `${HEX[high]}${HEX_PADDED[low]}`;
  }
  return text;
}

/** Above every place. */
const NO_RUN = 0x1111;
/** The run of an IPv4-mapped address: bytes 0 to 9. */
const MAPPED_RUN = 10;

/**
 * The first longest run of at least two zero groups (RFC 5952, 4.2.3): the place of its first byte in the address × 256 + that of
 * the byte behind it. One number, because an object would cost more than the search.
 */
function longestZeroRun(bytes: Uint8Array, at: number): number {
  let run = NO_RUN;
  let longest = 2;
  let start = 0;
  for (let i = 0; i <= 16; i += 2) {
    if (i < 16 && bytes[at + i] === 0 && bytes[at + i + 1] === 0) continue;
    if (i - start > longest) {
      longest = i - start;
      run = (start << 8) | i;
    }
    start = i + 2;
  }
  return run;
}
