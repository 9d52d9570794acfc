// Prefixes of the fake: whether an address is in one.
import { formatAddress, parseAddressAsIs } from '../../net/address.js';
import { type Prefix, parsePrefix } from '../../rtnetlink/prefixes.js';

/** The network of an address: its bits after `length` are 0. */
export function networkOf(address: string, length: number): string {
  const bytes = parseAddressAsIs(address) ?? new Uint8Array();
  return `${formatAddress(bytes.map((byte, i) => byte & maskOf(length - i * 8)))}/${length}`;
}

/** Whether an address is in a prefix; undefined is every prefix. */
export function isIn(address: string, prefix: string | undefined): boolean {
  if (prefix === undefined) return true;
  const { length, bytes } = parsed(prefix);
  return networkOf(address, length) === networkOf(formatAddress(bytes), length);
}

/** A prefix that has been checked. */
export function parsed(prefix: string): Prefix {
  const found = parsePrefix(prefix);
  if (!found) throw new RangeError(`${prefix} must be a prefix`);
  return found;
}

/** The mask of one byte of which the first bits belong to the network. */
function maskOf(bits: number): number {
  if (bits >= 8) return 0xff;
  return bits <= 0 ? 0 : (0xff << (8 - bits)) & 0xff;
}
