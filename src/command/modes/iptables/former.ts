// The rules that iptables mode has in common with other modes, and its state on a node where another mode runs now.
import type { Table } from '../../../kernel/iptables/types.js';
import { createIptablesMode } from '../../../proxy/modes/iptables/index.js';
import {
  FIREWALL,
  jumps,
  NODE_CHAINS,
  SHARED_CHAINS,
} from '../../../proxy/modes/iptables/plan/fixedChains.js';
import type { IptablesOptions } from '../../../proxy/modes/iptables/plan/options.js';
import type { IptablesKernel } from '../../../proxy/modes/iptables/program/kernel.js';
import type { FormerState } from '../../../proxy/modes/mode.js';
import { iptablesWithout } from '../iptablesRules/rulesInUse.js';
import type { RulesInUse } from '../shared/definition.js';

/** The fixed chains, and the rules in built-in chains. */
export const RULES: RulesInUse = {
  chains: byTable((table) => [
    ...NODE_CHAINS[table],
    ...SHARED_CHAINS[table],
    ...(table === 'filter' ? [FIREWALL] : []),
  ]),
  jumps,
};

/**
 * As in kube-proxy, these stay: kubelet has the same chain with the same rule and jumps. The setting route_localnet stays
 * too, and without the rule, other hosts could reach loopback addresses of this node.
 */
const KEPT: RulesInUse = {
  chains: byTable((table) => (table === 'filter' ? [FIREWALL] : [])),
  jumps: (family) => jumps(family).filter(({ text }) => text === `-j ${FIREWALL}`),
};

/** The state that the mode left. */
export function formerState(kernel: IptablesKernel, options: IptablesOptions): FormerState {
  const iptables = iptablesWithout(kernel.iptables, KEPT);
  return { mode: createIptablesMode({ ...kernel, iptables }, options), close: () => {} };
}

function byTable<Value>(of: (table: Table) => Value): Record<Table, Value> {
  return { nat: of('nat'), filter: of('filter'), mangle: of('mangle') };
}
