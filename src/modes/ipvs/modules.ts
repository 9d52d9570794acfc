// The kernel modules that ipvs mode needs on every node.
import { SET_ROLES, setOf } from './sets.js';

/**
 * Modules of the matches and targets of rules. Not those of tables: each backend of iptables has its own, and iptables-nft warns
 * of the tables of iptables-legacy wherever they exist. Nor those that few rules need: xt_physdev and xt_ipvs.
 */
const RULE_MODULES = [
  'xt_comment',
  'xt_mark',
  'xt_set',
  'xt_addrtype',
  'xt_conntrack',
  'xt_MASQUERADE',
  'ipt_REJECT',
  'ip6t_REJECT',
] as const;

/**
 * Names of modules. The kernel loads each when it is first needed, with a process of modprobe for each: the first rules wait for
 * all of them. ip_vs, on which the scheduler depends, is not loaded on demand.
 */
export function kernelModules(scheduler: string): string[] {
  // hash:ip,port → ip_set_hash_ipport
  const setTypes = new Set(SET_ROLES.map((role) => setOf(role, 4).type));
  const setModules = [...setTypes].map((type) => `ip_set_${type.replace(':', '_').replaceAll(',', '')}`);
  return [`ip_vs_${scheduler}`, 'dummy', ...setModules, ...RULE_MODULES];
}
