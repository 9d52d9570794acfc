// Kernel modules of rules.

/**
 * Modules of matches and targets that the rules of every mode have. Not those of tables: each backend of iptables has its own, and
 * iptables-nft warns of the tables of iptables-legacy wherever they exist.
 */
export const RULE_MODULES: readonly string[] = [
  'xt_comment',
  'xt_mark',
  'xt_addrtype',
  'xt_conntrack',
  'xt_MASQUERADE',
  'ipt_REJECT',
  'ip6t_REJECT',
];
