// Networks in CIDR notation. Their canonical text has the host bits zero: `10.96.0.0/12`.
import {
  type Family,
  formatAddress,
  formatIPv4At,
  parseAddress,
  parseAddressAsIs,
  readAddressAsIs,
} from './address.js';

/** A network: its masked base address and prefix length. */
export interface Network {
  readonly family: Family;
  /** Base address, host bits zero; 4 or 16 bytes. */
  readonly bytes: Uint8Array;
  /** 0–32 or 0–128. */
  readonly prefix: number;
}

/** Parses `address/prefix` and clears the host bits, as Kubernetes does; undefined if the text is not a network. */
export function parseNetwork(text: string): Network | undefined {
  return readNetwork(text, parseAddress);
}

/** Like {@link parseNetwork}, but a network of IPv4-mapped IPv6 addresses is of IPv6, and numbers have no leading zeros. */
export function parseNetworkAsIs(text: string): Network | undefined {
  return /\/0\d/.test(text) ? undefined : readNetwork(text, parseAddressAsIs);
}

function readNetwork(text: string, parse: typeof parseAddress): Network | undefined {
  const slash = text.indexOf('/');
  const prefix = prefixBehind(text, slash);
  const bytes = prefix === undefined ? undefined : parse(text.slice(0, slash));
  if (prefix === undefined || !bytes || prefix > bytes.length * 8) return undefined;
  return { family: bytes.length === 4 ? 4 : 6, bytes: mask(bytes, prefix), prefix };
}

/** The number behind a slash; undefined if there is none. */
function prefixBehind(text: string, slash: number): number | undefined {
  const digits = slash < 0 ? '' : text.slice(slash + 1);
  return /^[0-9]{1,3}$/.test(digits) ? Number(digits) : undefined;
}

/** An address that is being read. */
const scratch = new Uint8Array(16);

/** The canonical text of a network; undefined if the text is not a network. */
export function canonicalNetwork(text: string): string | undefined {
  const slash = text.indexOf('/');
  const prefix = prefixBehind(text, slash);
  if (prefix === undefined) return undefined;
  // Nearly all networks are of IPv4, and the allocations for each take longer than the rest.
  if (readAddressAsIs(text.slice(0, slash), scratch, 0) === 4) {
    if (prefix > 32) return undefined;
    maskInPlace(scratch, prefix);
    return `${formatIPv4At(scratch, 0)}/${prefix}`;
  }
  const network = parseNetwork(text);
  return network && formatNetwork(network);
}

/** The canonical text: `10.96.0.0/12`. */
export function formatNetwork(network: Network): string {
  return `${formatAddress(network.bytes)}/${network.prefix}`;
}

/** Whether the network contains the address; false for an address of the other family. */
export function networkContains(network: Network, address: string): boolean {
  const bytes = parseAddress(address);
  return bytes !== undefined && networkContainsBytes(network, bytes);
}

/** The same for a network as text; false for a text that is not one. */
export function isInNetwork(text: string, address: string): boolean {
  const network = parseNetwork(text);
  return network !== undefined && networkContains(network, address);
}

/** The same for the 4 or 16 bytes of an address. */
export function networkContainsBytes(network: Network, bytes: Uint8Array): boolean {
  if (bytes.length !== network.bytes.length) return false;
  return mask(bytes, network.prefix).every((byte, i) => byte === network.bytes[i]);
}

function mask(bytes: Uint8Array, prefix: number): Uint8Array {
  const masked = bytes.slice();
  maskInPlace(masked, prefix);
  return masked;
}

/** Without map(), whose calls take longer than the rest. */
function maskInPlace(bytes: Uint8Array, prefix: number): void {
  for (let i = prefix >> 3; i < bytes.length; i++) {
    const kept = Math.max(0, prefix - 8 * i);
    bytes[i] = (bytes[i] as number) & (0xff00 >> kept);
  }
}
