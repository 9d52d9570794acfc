// Chains and rules of a former kube-proxy in iptables mode: they would still match traffic. Chains of both modes
// (KUBE-SERVICES in table nat, KUBE-POSTROUTING, …) are rewritten; the others are removed after our rules are
// programmed.
import type { ChainRule } from '../../kernel/iptables/types.js';
import type { Family } from '../../net/address.js';

/** Chains of Service ports, their local endpoints, external addresses and firewalls, and of endpoints. */
const PER_SERVICE = /^KUBE-(SVC|SVL|EXT|FW|SEP)-[A-Z2-7]{16}$/;

const CHAINS: Readonly<Record<string, readonly string[]>> = {
  nat: ['KUBE-NODEPORTS', 'KUBE-PROXY-CANARY'],
  filter: ['KUBE-SERVICES', 'KUBE-EXTERNAL-SERVICES', 'KUBE-NODEPORTS', 'KUBE-PROXY-CANARY'],
  mangle: ['KUBE-PROXY-CANARY'],
};

/** Whether the chain belongs to iptables mode only. KUBE-FIREWALL does not: kubelet uses it too. */
export function isIptablesModeChain(table: string, name: string): boolean {
  return (CHAINS[table] ?? []).includes(name) || (table === 'nat' && PER_SERVICE.test(name));
}

const NEW = '-m conntrack --ctstate NEW ';

/** All are in table filter: the jumps in table nat are the same in both modes. */
const JUMPS: readonly (readonly [from: string, match: string, comment: string, to: string])[] = [
  ['INPUT', NEW, 'kubernetes externally-visible service portals', 'KUBE-EXTERNAL-SERVICES'],
  ['FORWARD', NEW, 'kubernetes externally-visible service portals', 'KUBE-EXTERNAL-SERVICES'],
  ['INPUT', '', 'kubernetes health check service ports', 'KUBE-NODEPORTS'],
  ['FORWARD', NEW, 'kubernetes service portals', 'KUBE-SERVICES'],
  ['OUTPUT', NEW, 'kubernetes service portals', 'KUBE-SERVICES'],
  ['INPUT', NEW, 'kubernetes load balancer firewall', 'KUBE-PROXY-FIREWALL'],
  ['FORWARD', NEW, 'kubernetes load balancer firewall', 'KUBE-PROXY-FIREWALL'],
  ['OUTPUT', NEW, 'kubernetes load balancer firewall', 'KUBE-PROXY-FIREWALL'],
];

/** The jumps that only iptables mode has. */
export function leftoverJumps(family: Family): ChainRule[] {
  return JUMPS.map(([chain, match, comment, to]) => ({
    family,
    table: 'filter',
    chain,
    text: `${match}-m comment --comment "${comment}" -j ${to}`,
  }));
}
