// The kernel modules of ipvs mode that the kernel has now.
import { existsSync } from 'node:fs';

/** The kernel has loaded IPVS, or has it built in. */
export function hasIpvs(): boolean {
  return existsSync('/proc/net/ip_vs');
}

/** The kernel has loaded ipset, or has it built in. */
export function hasIpset(): boolean {
  return existsSync('/sys/module/ip_set');
}
