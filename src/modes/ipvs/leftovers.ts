// What a kube-proxy in iptables mode left behind: its chains would go on catching traffic beside ours. Those that both
// modes have (KUBE-SERVICES of table nat, KUBE-POSTROUTING, …) are rewritten; these go, once our own rules are in place.
import type { Jump } from '../../kernel/iptables/types.js';
import type { Family } from '../../net/address.js';

/** One chain for each Service port, its local endpoints, its external addresses, its firewall, and each endpoint. */
const PER_SERVICE = /^KUBE-(SVC|SVL|EXT|FW|SEP)-[A-Z2-7]{16}$/;

const CHAINS: Readonly<Record<string, readonly string[]>> = {
  nat: ['KUBE-NODEPORTS', 'KUBE-PROXY-CANARY'],
  filter: ['KUBE-SERVICES', 'KUBE-EXTERNAL-SERVICES', 'KUBE-NODEPORTS', 'KUBE-PROXY-CANARY'],
  mangle: ['KUBE-PROXY-CANARY'],
};

/** Whether iptables mode makes the chain and ipvs mode does not. KUBE-FIREWALL is left alone: kubelet has it too. */
export function isIptablesModeChain(table: string, name: string): boolean {
  return (CHAINS[table] ?? []).includes(name) || (table === 'nat' && PER_SERVICE.test(name));
}

const NEW = '-m conntrack --ctstate NEW ';

/** All are of table filter: those of table nat are the same in both modes. */
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

/** Rules by which iptables mode is entered and ipvs mode is not. */
export function leftoverJumps(family: Family): Jump[] {
  return JUMPS.map(([from, match, comment, to]) => ({
    family,
    table: 'filter',
    from,
    rule: `${match}-m comment --comment "${comment}" -j ${to}`,
  }));
}
