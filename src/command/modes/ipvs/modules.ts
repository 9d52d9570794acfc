// The kernel modules that ipvs mode needs on every node.

import { SET_ROLES, setOf } from '../../../proxy/modes/ipvs/plan/sets.js';
import { RULE_MODULES } from '../iptablesRules/ruleModules.js';

/**
 * Names of modules, without those that few rules need: xt_physdev and xt_ipvs. ip_vs, on which the scheduler depends, is not loaded on
 * demand.
 */
export function kernelModules(scheduler: string): string[] {
  // hash:ip,port → ip_set_hash_ipport
  const setTypes = new Set(SET_ROLES.map((role) => setOf(role, 4).type));
  const setModules = [...setTypes].map((type) => `ip_set_${type.replace(':', '_').replaceAll(',', '')}`);
  return [`ip_vs_${scheduler}`, 'dummy', ...setModules, 'xt_set', ...RULE_MODULES];
}
