// The kernel modules that iptables mode needs on every node.
import { RULE_MODULES } from '../iptablesRules/ruleModules.js';

/** Names of modules, without those that few rules need: xt_recent for session affinity, and xt_sctp. */
export const KERNEL_MODULES: readonly string[] = [
  ...RULE_MODULES,
  'xt_tcpudp',
  'xt_nat',
  'xt_statistic',
  'xt_nfacct',
];
