// Counters of nfacct: named counters of packets, which rules of iptables increase (`-m nfacct`). Source of every rule:
// include/uapi/linux/netfilter/nfnetlink_acct.h, net/netfilter/nfnetlink_acct.c.
import type { NetlinkError } from '../../../kernel/errors.js';

/** A counter, as the kernel reports it. */
export interface NfacctCounter {
  readonly name: string;
  /** Number of packets since its creation. */
  readonly packets: bigint;
  /** Number of bytes since its creation. */
  readonly bytes: bigint;
}

/**
 * The counters of one network namespace. Calls reject with a NetlinkError: `EINVAL` if the kernel has no nfacct
 * (`CONFIG_NETFILTER_NETLINK_ACCT`, Linux 3.3), `EPERM` without CAP_NET_ADMIN, `ERR_CLOSED`, `ERR_MALFORMED_REPLY`.
 */
export interface Nfacct {
  /** The counter of that name, 1 to 31 bytes; undefined if there is none. */
  get(name: string): Promise<NfacctCounter | undefined>;
  /** Creates the counter. A counter of that name keeps its numbers, and is not an error. */
  add(name: string): Promise<NetlinkError | undefined>;
  close(): void;
}
