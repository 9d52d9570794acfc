// The families that are programmed on this host with rules of nf_tables.
import type { Family } from '../../../kernel/net/address.js';
import { HOST, type Machine } from '../../../kernel/shared/hints.js';

/** With 1, no interface has an IPv6 address. kube-proxy leaves the family out too. */
const DISABLE_IPV6 = '/proc/sys/net/ipv6/conf/all/disable_ipv6';

/** The families whose IP stack this host has, and has not disabled; the others with the reason. */
export function hostFamilies(machine: Machine = HOST): {
  readonly families: readonly Family[];
  readonly unusable: ReadonlyMap<Family, string>;
} {
  const reason = noIPv6(machine);
  return reason === undefined
    ? { families: [4, 6], unusable: new Map() }
    : { families: [4], unusable: new Map([[6, reason]]) };
}

function noIPv6(machine: Machine): string | undefined {
  if (!machine.exists('/proc/net/if_inet6')) return 'the kernel runs without IPv6';
  if (machine.read(DISABLE_IPV6)?.trim() === '1')
    return 'IPv6 is disabled: net.ipv6.conf.all.disable_ipv6 = 1';
  return undefined;
}
