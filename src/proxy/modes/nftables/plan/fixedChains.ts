// The chains and rules of the node, which depend on no Service.

import { type Family, familyOf } from '../../../../kernel/net/address.js';
import { type Network, parseNetwork } from '../../../../kernel/net/network.js';
import type { BaseChain } from '../../../../kernel/nftables/types.js';
import type { NodeFacts } from '../../../services/types.js';
import { DSTNAT, FILTER, SRCNAT } from '../../nftablesRules/plan/chains.js';
import {
  addressIn,
  addressInNetwork,
  connectionIn,
  DROP,
  hasMark,
  hasProtocol,
  invertMark,
  isOfHost,
  localTraffic,
  MASQUERADE,
  NEW_CONNECTION,
  type Part,
  RESET,
  type Rule,
  reject,
  rule,
  setMark,
  TRANSLATED,
  to,
  verdictOfDestination,
  verdictOfPort,
} from '../../nftablesRules/plan/expressions.js';
import { containsAll, localMatch } from '../../shared/plan/localDetector.js';
import { type ChainItem, chainKey, tableKey } from './items.js';
import { isLocalhostRejectChain } from './localhostPorts.js';
import { FLOW_CHAIN, TABLE } from './names.js';
import type { NftablesOptions } from './options.js';
import { addressInAny } from './ranges.js';

/** The chain that refuses connections to Services without endpoints. */
export const REJECT_CHAIN = 'reject-chain';

/** The chain that refuses packets to TCP ports without endpoints of Services with fail-fast. It exists if there are such. */
export const RESET_CHAIN = 'reset-chain';

/** The chains that packets enter by `jump` and `goto`. */
export const FIXED_CHAINS = [
  'cluster-ips-check',
  'firewall-check',
  'masquerading',
  'nodeport-endpoints-check',
  REJECT_CHAIN,
  'service-endpoints-check',
  'services',
] as const;

/** A chain with a name that each node has. */
type FixedChain = (typeof FIXED_CHAINS)[number];

/**
 * The base chains, each with the chains to which it jumps. Source ranges are checked before destinations are translated; what has no
 * endpoints afterwards, because the kernel refuses `reject` in prerouting before Linux 5.9.
 */
const BASE_CHAINS: readonly (readonly [name: string, base: BaseChain, jumps: readonly FixedChain[]])[] = [
  [
    'filter-prerouting-pre-dnat',
    { type: 'filter', hook: 'prerouting', priority: DSTNAT - 10 },
    ['firewall-check'],
  ],
  ['filter-output-pre-dnat', { type: 'filter', hook: 'output', priority: DSTNAT - 10 }, ['firewall-check']],
  [
    'filter-input',
    { type: 'filter', hook: 'input', priority: FILTER },
    ['nodeport-endpoints-check', 'service-endpoints-check'],
  ],
  [
    'filter-forward',
    { type: 'filter', hook: 'forward', priority: FILTER },
    ['service-endpoints-check', 'cluster-ips-check'],
  ],
  [
    'filter-output',
    { type: 'filter', hook: 'output', priority: FILTER },
    ['service-endpoints-check', 'cluster-ips-check'],
  ],
  ['nat-prerouting', { type: 'nat', hook: 'prerouting', priority: DSTNAT }, ['services']],
  ['nat-output', { type: 'nat', hook: 'output', priority: DSTNAT }, ['services']],
  ['nat-postrouting', { type: 'nat', hook: 'postrouting', priority: SRCNAT }, ['masquerading']],
];

/** The names of the base chains, and of the chains to which they lead. */
export const NODE_CHAINS: ReadonlySet<string> = new Set([
  ...FIXED_CHAINS,
  ...BASE_CHAINS.map(([name]) => name),
]);

/** Whether a chain has the name of one that each node has, or may have. */
export function isNodeChain(name: string): boolean {
  return NODE_CHAINS.has(name) || isOptionalChain(name);
}

/** Whether a chain has the name of one that leads nowhere, and that a node may have. */
export function isOptionalChain(name: string): boolean {
  return name === RESET_CHAIN || name === FLOW_CHAIN || isLocalhostRejectChain(name);
}

/** {@link RESET_CHAIN}, which also ends connections that were open. */
export function resetChain(family: Family): ChainItem {
  return { kind: 'chain', family, name: RESET_CHAIN, rules: [rule([hasProtocol('tcp'), RESET])] };
}

/** The chains of the node in a family. */
export function nodeChains(family: Family, node: NodeFacts, options: NftablesOptions): ChainItem[] {
  const rules = rulesOf(family, node, options);
  return [
    ...FIXED_CHAINS.map(
      (name): ChainItem => ({
        kind: 'chain',
        family,
        name,
        ...(name === REJECT_CHAIN && {
          comment: 'helper for @no-endpoint-services / @no-endpoint-nodeports',
        }),
        rules: rules[name],
      }),
    ),
    ...BASE_CHAINS.map(([name, base, jumps]): ChainItem => {
      // Only packets that begin a connection are filtered; chains of type nat see no others.
      const condition = base.type === 'filter' ? [NEW_CONNECTION] : [];
      const rules = jumps.map((chain) => rule([...condition, to('jump', chain)]));
      return { kind: 'chain', family, name, base, rules };
    }),
  ];
}

function rulesOf(
  family: Family,
  node: NodeFacts,
  options: NftablesOptions,
): Readonly<Record<FixedChain, readonly Rule[]>> {
  const { masqueradeMark: mark } = options;
  const limited = !node.host.unrestricted.has(family);
  const toNodePorts = (anywhere: readonly Part[]) =>
    limited ? [addressIn(family, 'daddr', 'nodeport-ips')] : [...anywhere, notLoopback(family)];
  return {
    'cluster-ips-check': clusterIPsCheck(family, node.serviceCIDRs),
    'firewall-check': [rule([verdictOfDestination(family, 'firewall-ips')])],
    masquerading: [
      rule([hasMark(mark), invertMark(mark), MASQUERADE]),
      rule([TRANSLATED, connectionIn(family, 'hairpin-connections'), MASQUERADE]),
    ],
    // In the hook `input`, each destination is an address of the host.
    'nodeport-endpoints-check': [
      rule([...toNodePorts([]), verdictOfPort('no-endpoint-nodeports')]),
      ...rejectOnLoopback(family, options),
    ],
    [REJECT_CHAIN]: [rule([reject(family)])],
    'service-endpoints-check': [rule([verdictOfDestination(family, 'no-endpoint-services')])],
    services: [
      ...masqueradeClusterIPs(family, node, options),
      rule([verdictOfDestination(family, 'service-ips')]),
      rule([...toNodePorts([isOfHost('daddr')]), verdictOfPort('service-nodeports')]),
    ],
  };
}

/** Rejects traffic to node ports on loopback addresses, if a protocol is rejected there. */
function rejectOnLoopback(family: Family, { localhostRejects }: NftablesOptions): Rule[] {
  if (localhostRejects[family].length === 0) return [];
  const toLoopback = addressInNetwork(family, 'daddr', LOOPBACK[family]);
  return [rule([toLoopback, verdictOfPort('localhost-nodeport-reject-ports')])];
}

/** Marks traffic to cluster IPs: all, or all that is not local. Without a detector, none. */
function masqueradeClusterIPs(
  family: Family,
  node: NodeFacts,
  { masqueradeAll, masqueradeMark, localDetector }: NftablesOptions,
): Rule[] {
  const toClusterIP = addressIn(family, 'daddr', 'cluster-ips');
  const marked = setMark(masqueradeMark);
  if (masqueradeAll) return [rule([toClusterIP, marked], 'masquerade all clusterIP traffic')];
  const local = localMatch(localDetector, family, podNetwork(family, node));
  if (!local || containsAll(local)) return [];
  const outside = localTraffic(family, local, true);
  return [rule([toClusterIP, outside, marked], 'masquerade clusterIP traffic from outside cluster')];
}

/** The network of this node's pods in a family, if known. */
export function podNetwork(family: Family, { podCIDRs }: Pick<NodeFacts, 'podCIDRs'>): string | undefined {
  return podCIDRs.find((network) => familyOf(network) === family);
}

/** Refuses ports that no Service has, and drops packets to addresses that no Service has. */
function clusterIPsCheck(family: Family, serviceCIDRs: readonly string[]): Rule[] {
  const rules = [
    rule(
      [addressIn(family, 'daddr', 'cluster-ips'), reject(family)],
      'Reject traffic to invalid ports of ClusterIPs',
    ),
  ];
  // A network of length 0 has all addresses: not only those of Services.
  const networks = serviceCIDRs.filter((text) => familyOf(text) === family && !text.endsWith('/0'));
  if (networks.length > 0) {
    const allocated = addressInAny(family, 'daddr', networks, 'cluster-ips-check');
    rules.push(rule([allocated, DROP], 'Drop traffic to unallocated ClusterIPs'));
  }
  return rules;
}

const LOOPBACK: Readonly<Record<Family, Network>> = {
  4: parseNetwork('127.0.0.0/8') as Network,
  6: parseNetwork('::1/128') as Network,
};

function notLoopback(family: Family): Part {
  return addressInNetwork(family, 'daddr', LOOPBACK[family], true);
}

/** The comment of the mode's tables. */
export const TABLE_COMMENT = 'rules for kube-proxy';

/** What a watch must know of the tables. */
export function watchedTables(families: readonly Family[]) {
  return {
    families,
    name: TABLE,
    tableKey,
    chains: (family: Family) => [...NODE_CHAINS].map((name) => [chainKey(family, name), name] as const),
  };
}
