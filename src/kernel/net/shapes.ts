// The checks of addresses and networks that a program gives.
import { type Check, oneOf, ruled } from '../shapes.js';
import { canonicalAddress } from './address.js';
import { parseNetwork } from './network.js';

/** A family. */
export const FAMILY: Check = oneOf(4, 6);

/** An address as canonical text. */
export const ADDRESS: Check = ruled(
  'string',
  'must be a canonical address',
  (text: string) => canonicalAddress(text) === text,
);

/** A network: `10.0.0.0/8`. */
export const NETWORK: Check = ruled(
  'string',
  'must be a network in CIDR notation',
  (text: string) => parseNetwork(text) !== undefined,
);
