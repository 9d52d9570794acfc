// Prefixes of both families: text ↔ bytes and length.
import { type Family, formatAddress, parseAddressAsIs } from '../net/address.js';
import type { Checker } from '../shared/checker.js';
import type { AttributeCursor } from '../shared/wire/attributeCursor.js';

/** A prefix. */
export interface Prefix {
  readonly family: Family;
  /** 4 or 16 bytes in network order. */
  readonly bytes: Uint8Array;
  readonly length: number;
}

/** The length of the longest prefix of a family. */
export const LONGEST_PREFIX: Readonly<Record<Family, number>> = { 4: 32, 6: 128 };

/** `10.0.0.0/24`; without a length, the whole address. Undefined if the text is not a prefix. */
export function parsePrefix(text: string): Prefix | undefined {
  const [address = '', length, ...rest] = text.split('/');
  const bytes = parseAddressAsIs(address);
  if (!bytes || rest.length > 0) return undefined;
  const family = bytes.length === 4 ? 4 : 6;
  if (length === undefined) return { family, bytes, length: LONGEST_PREFIX[family] };
  if (!/^(?:0|[1-9]\d{0,2})$/.test(length) || Number(length) > LONGEST_PREFIX[family]) return undefined;
  return { family, bytes, length: Number(length) };
}

/** The prefix of all addresses of a family. */
export function wholeFamily(family: Family): Prefix {
  return { family, bytes: new Uint8Array(family === 4 ? 4 : 16), length: 0 };
}

/** The text of a prefix of a message: its bytes are absent for the length 0. */
export function formatPrefix(family: Family, attribute: AttributeCursor | undefined, length: number): string {
  const bytes = attribute ? attribute.bytes(0, family === 4 ? 4 : 16) : wholeFamily(family).bytes;
  return `${formatAddress(bytes)}/${length}`;
}

/** A prefix of a family, or of any; else the value is noted. */
export function checkPrefix(
  checker: Checker,
  path: string,
  value: unknown,
  family?: Family,
): Prefix | undefined {
  const prefix = typeof value === 'string' ? parsePrefix(value) : undefined;
  if (prefix && (family === undefined || prefix.family === family)) return prefix;
  const of = family === undefined ? 'IPv4 or IPv6' : `IPv${family}`;
  const example = family === 6 ? 'fd00::/64' : '10.0.0.0/24';
  checker.fail(path, value, `must be an ${of} address or prefix, as ${example}`, typeof value !== 'string');
  return undefined;
}

/** A family; else the value is noted. */
export function checkFamily(checker: Checker, path: string, value: unknown): Family | undefined {
  if (value === undefined || value === 4 || value === 6) return value;
  checker.fail(path, value, 'must be 4 or 6', typeof value !== 'number');
  return undefined;
}
