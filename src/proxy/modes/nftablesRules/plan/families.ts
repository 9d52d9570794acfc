// The families of the tables that a mode has: one table for each family of addresses.
import type { Family } from '../../../../kernel/net/address.js';

/** The family of a mode's table for each family of addresses. */
export const TABLE_FAMILY = { 4: 'ip', 6: 'ip6' } as const;

/** The type of an address in each family. */
export const ADDRESS_TYPE = { 4: 'ipv4_addr', 6: 'ipv6_addr' } as const;

/** The family of an nftables table of this mode; undefined for others. */
export function familyOfTable(family: string | number): Family | undefined {
  if (family === TABLE_FAMILY[4]) return 4;
  return family === TABLE_FAMILY[6] ? 6 : undefined;
}
