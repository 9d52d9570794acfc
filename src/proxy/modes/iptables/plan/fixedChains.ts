// The chains and rules of the node, which depend on no Service. Rules are text as iptables-save prints them.
import type { Chain, ChainRule, Table } from '../../../../kernel/iptables/types.js';
import type { Family } from '../../../../kernel/net/address.js';
import type { NodeFacts } from '../../../services/types.js';
import { acceptForwarded, masqueradeMarked, setMark } from '../../iptablesRules/plan/fixedRules.js';
import type { SharedChainItem } from './items.js';
import { loopbackServesNodePorts } from './loopback.js';
import { isPerService } from './names.js';
import type { IptablesOptions } from './options.js';
import { comment, count, hostNetwork, INVALID_COUNTER } from './ruleText.js';

/** The chain whose loss shows that another program deleted all rules; kubelet has its own. */
const CANARY = 'KUBE-PROXY-CANARY';

/** The chain that kubelet may use too: rules of other programs in it stay. */
export const FIREWALL = 'KUBE-FIREWALL';

/** Chains whose rules belong to different Services, by table. */
export const SHARED_CHAINS: Readonly<Record<Table, readonly string[]>> = {
  nat: ['KUBE-SERVICES', 'KUBE-NODEPORTS'],
  filter: ['KUBE-SERVICES', 'KUBE-EXTERNAL-SERVICES', 'KUBE-NODEPORTS', 'KUBE-PROXY-FIREWALL'],
  mangle: [],
};

/** Chains of the node whose rules are written together, by table. */
export const NODE_CHAINS: Readonly<Record<Table, readonly string[]>> = {
  nat: ['KUBE-MARK-MASQ', 'KUBE-POSTROUTING', CANARY],
  filter: ['KUBE-FORWARD', CANARY],
  mangle: [CANARY],
};

/** Whether a chain belongs to kube-proxy alone: one of Services or of the node. KUBE-FIREWALL is kubelet's too. */
export function isOwnChain(table: string, name: string): boolean {
  const fixed = [SHARED_CHAINS, NODE_CHAINS].some((chains) => chains[table as Table]?.includes(name));
  return fixed || isPerService(table, name);
}

const NEW = '-m conntrack --ctstate NEW ';

/** Our rules in built-in chains, in the order of their insertion at the head: the last one is the first in its chain. */
const JUMPS: readonly (readonly [table: Table, chain: string, match: string, comment: string, to: string])[] =
  [
    ['filter', 'INPUT', NEW, 'kubernetes externally-visible service portals', 'KUBE-EXTERNAL-SERVICES'],
    ['filter', 'FORWARD', NEW, 'kubernetes externally-visible service portals', 'KUBE-EXTERNAL-SERVICES'],
    ['filter', 'INPUT', '', 'kubernetes health check service ports', 'KUBE-NODEPORTS'],
    ['filter', 'FORWARD', NEW, 'kubernetes service portals', 'KUBE-SERVICES'],
    ['filter', 'OUTPUT', NEW, 'kubernetes service portals', 'KUBE-SERVICES'],
    ['filter', 'FORWARD', '', 'kubernetes forwarding rules', 'KUBE-FORWARD'],
    ['filter', 'INPUT', NEW, 'kubernetes load balancer firewall', 'KUBE-PROXY-FIREWALL'],
    ['filter', 'OUTPUT', NEW, 'kubernetes load balancer firewall', 'KUBE-PROXY-FIREWALL'],
    ['filter', 'FORWARD', NEW, 'kubernetes load balancer firewall', 'KUBE-PROXY-FIREWALL'],
    ['nat', 'OUTPUT', '', 'kubernetes service portals', 'KUBE-SERVICES'],
    ['nat', 'PREROUTING', '', 'kubernetes service portals', 'KUBE-SERVICES'],
    ['nat', 'POSTROUTING', '', 'kubernetes postrouting rules', 'KUBE-POSTROUTING'],
    ['filter', 'INPUT', '', '', FIREWALL],
    ['filter', 'OUTPUT', '', '', FIREWALL],
  ];

/** The jumps of a family, in the order of their insertion. */
export function jumps(family: Family): ChainRule[] {
  return JUMPS.map(([table, chain, match, text, to]) => ({
    family,
    table,
    chain,
    text: `${match}${text && `${comment(text)} `}-j ${to}`,
  }));
}

/** The rule that protects addresses 127.0.0.0/8, which the setting route_localnet makes reachable for other hosts. */
export const BLOCK_LOCALNET: ChainRule = {
  family: 4,
  table: 'filter',
  chain: FIREWALL,
  text:
    `! -s 127.0.0.0/8 -d 127.0.0.0/8 ${comment('block incoming localnet connections')} ` +
    '-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP',
};

/** The chains of a family whose rules are written together. */
export function nodeChains(family: Family, options: IptablesOptions): Chain[] {
  const { masqueradeMark, nfacct, conntrackLiberal } = options;
  const counted = nfacct ? `${count(INVALID_COUNTER)} ` : '';
  const rules: Readonly<Record<string, readonly string[]>> = {
    'KUBE-MARK-MASQ': setMark(masqueradeMark),
    'KUBE-POSTROUTING': masqueradeMarked(masqueradeMark),
    'KUBE-FORWARD': [
      // Such packets pass NAT unchanged: the client would reset the connection.
      ...(conntrackLiberal ? [] : [`-m conntrack --ctstate INVALID ${counted}-j DROP`]),
      ...acceptForwarded(masqueradeMark),
    ],
  };
  return (['mangle', 'nat', 'filter'] as const).flatMap((table) =>
    NODE_CHAINS[table].map((name) => ({ family, table, name, rules: rules[name] ?? [] })),
  );
}

/** The chains of a family whose rules belong to different Services. */
export function sharedChains(family: Family, node: NodeFacts, options: IptablesOptions): SharedChainItem[] {
  const chains = (['nat', 'filter'] as const).flatMap((table) =>
    SHARED_CHAINS[table].map(
      (name): SharedChainItem => ({ kind: 'sharedChain', family, table, name, tail: [] }),
    ),
  );
  const tail = nodePortTail(family, node, options);
  return [
    ...chains.map((chain) => (hasTail(chain.table, chain.name) ? { ...chain, tail } : chain)),
    { kind: 'sharedChain', family, table: 'filter', name: FIREWALL, tail: [] },
  ];
}

const TAIL = comment('kubernetes service nodeports; NOTE: this must be the last rule in this chain');

/** Whether the chain ends with rules that lead to node ports: the addresses of Services have priority. */
export function hasTail(table: string, name: string): boolean {
  return table === 'nat' && name === 'KUBE-SERVICES';
}

/** Whether a rule belongs to the tail of its chain. */
export function isTail(rule: string): boolean {
  return rule.includes(TAIL);
}

function nodePortTail(family: Family, { host, nodeIPs }: NodeFacts, options: IptablesOptions): string[] {
  if (!host.unrestricted.has(family)) {
    const to = (address: string) => `-d ${hostNetwork(address, family)} ${TAIL} -j KUBE-NODEPORTS`;
    return host.nodePortAddresses[family].map(to);
  }
  const loopback = family === 4 ? '127.0.0.0/8' : '::1/128';
  const except = loopbackServesNodePorts(options, family, nodeIPs) ? '' : `! -d ${loopback} `;
  return [`${except}${TAIL} -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS`];
}
