// The kernel modules of the rules that the proxy writes.

/**
 * Matches and targets (`net/netfilter/`, `net/ipv4/netfilter/`, `net/ipv6/netfilter/`). The kernel starts a program for each that a restore
 * needs first: on an emulated machine they take longer than the time limit of a restore.
 */
export const RULE_MODULES = [
  ...['xt_addrtype', 'xt_comment', 'xt_conntrack', 'xt_mark', 'xt_set', 'xt_statistic', 'xt_tcpudp'],
  ...['xt_MASQUERADE', 'xt_nat', 'ipt_REJECT', 'ip6t_REJECT', 'br_netfilter', 'nf_conntrack'],
] as const;
