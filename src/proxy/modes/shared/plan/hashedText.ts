// Hashes in names of chains, as kube-proxy makes them: the beginning of the SHA-256 of a text, in base32; and in base64, which is shorter.
import { hash } from 'node:crypto';

/** RFC 4648, section 6. */
const BASE32 = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567');

/**
 * Writes the first characters of the SHA-256 of a text, in base32, of 5 bits each.
 *
 * @param length number of characters; at most 51
 * @returns the place behind them
 */
export function writeHash(target: Buffer, at: number, text: string, length: number): number {
  const digest = hash('sha256', text, 'binary');
  const end = at + length;
  let bits = 0;
  let left = 0;
  let next = 0;
  for (let place = at; place < end; place++) {
    if (left < 5) {
      bits = ((bits << 8) | digest.charCodeAt(next++)) & 0xfff;
      left += 8;
    }
    left -= 5;
    target[place] = BASE32[(bits >> left) & 31] as number;
  }
  return end;
}

/** The first characters of the SHA-256 of a text, in base64 (RFC 4648, section 4), of 6 bits each. @param length at most 42 */
export function shortHash(text: string, length: number): string {
  return hash('sha256', text, 'base64').slice(0, length);
}
