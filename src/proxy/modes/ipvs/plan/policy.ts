// What the rules of ipvs mode do, as data: which packets are marked, masqueraded, accepted and refused. rules.ts writes them as text of
// iptables, tableChains.ts as expressions of nf_tables. Their order in a chain is significant. Except those of single items, their number does
// not depend on the number of Services.
import type { Table } from '../../../../kernel/iptables/types.js';
import type { Family } from '../../../../kernel/net/address.js';
import type { Protocol } from '../../../../kernel/net/protocol.js';
import { containsAll, type LocalMatch, localMatch } from '../../shared/plan/localDetector.js';
import type { NodeDrop, Shortcut } from './items.js';
import type { IpvsOptions } from './options.js';
import type { SetRole } from './sets.js';
import { TUNNEL_LINKS } from './tunnels.js';

/** The fields of a packet that are looked up in a set, in its notation of ipset. A port follows its protocol. */
export type Fields = 'dst' | 'dst,dst' | 'src,dst' | 'dst,dst,src';

/** A condition of a rule. */
export type Condition =
  | { readonly is: 'source'; readonly network: string; readonly not?: true }
  /** In the notation of iptables: `veth+` stands for all names that begin so. */
  | { readonly is: 'input'; readonly link: string; readonly not?: true }
  | { readonly is: 'protocol'; readonly protocol: Protocol }
  /** @param comment whether a rule of iptables has the set's comment */
  | { readonly is: 'inSet'; readonly role: SetRole; readonly fields: Fields; readonly comment: boolean }
  /** It is an address of this host. */
  | { readonly is: 'local'; readonly address: 'source' | 'destination'; readonly not?: true }
  /** The packet did not enter by the port of a bridge. */
  | { readonly is: 'notBridged' }
  /** The packet begins a connection. */
  | { readonly is: 'new' }
  /** The packet is sent to a {@link Shortcut}. */
  | { readonly is: 'toShortcut' }
  /** The packet is sent from the address of a {@link NodeDrop} to it. */
  | { readonly is: 'ofNodeDrop' };

/** What happens to a packet for which all conditions hold. `toClusterIP`: to that of the {@link Shortcut}. */
export type Action =
  | 'accept'
  | 'return'
  | 'drop'
  | 'reject'
  | 'masquerade'
  | 'toClusterIP'
  | { readonly jump: string };

/** One rule. */
export interface PolicyRule {
  /** The rule needs an entry of this set: without, it has no effect. */
  readonly when?: SetRole;
  readonly conditions: readonly Condition[];
  readonly action: Action;
}

/** Rules that iptables mode has too, and rules for each item of a kind. */
export type RuleGroup =
  | { readonly shared: 'setMark' | 'masqueradeMarked' | 'acceptForwarded' }
  | { readonly each: 'nodeDrop' | 'shortcut'; readonly rules: readonly PolicyRule[] };

/** A chain with its rules. */
export interface PolicyChain {
  readonly table: Exclude<Table, 'mangle'>;
  readonly name: string;
  readonly rules: readonly (PolicyRule | RuleGroup)[];
}

/** The facts that rules depend on, besides the options. */
export interface RuleFacts {
  /** Whether a set of the family has a desired entry: many rules exist only if their set is not empty. */
  readonly has: (role: SetRole) => boolean;
  /** Load-balancer IPs to which the node itself must not connect. */
  readonly nodeDrops: readonly NodeDrop[];
  /** Addresses at which clients in the cluster use the cluster IP. */
  readonly shortcuts: readonly Shortcut[];
  /** This node receives packets through tunnels. */
  readonly receivesTunnels: boolean;
  /** The network of this node's pods in the family, if known. */
  readonly podNetwork: string | undefined;
}

/** The facts that do not depend on the entries of sets. */
export type NodeRuleFacts = Pick<RuleFacts, 'receivesTunnels' | 'podNetwork'>;

/** The chains of a family, those of table nat first. */
export function policy(family: Family, facts: NodeRuleFacts, options: IpvsOptions): PolicyChain[] {
  return [...natPolicy(family, facts, options), ...filterPolicy(facts, options)];
}

const LOOPBACK = { 4: '127.0.0.0/8', 6: '::1/128' } as const;
const MARK: Action = { jump: 'KUBE-MARK-MASQ' };
const TO_LOCAL: Condition = { is: 'local', address: 'destination' };

const inSet = (role: SetRole, fields: Fields = 'dst,dst', comment = true): Condition => ({
  is: 'inSet',
  role,
  fields,
  comment,
});
/** A rule of iptables without the set's comment. */
const bare = (role: SetRole, fields?: Fields) => inSet(role, fields, false);
const always = (conditions: readonly Condition[], action: Action): PolicyRule => ({ conditions, action });
const when = (set: SetRole, conditions: readonly Condition[], action: Action): PolicyRule => ({
  when: set,
  conditions,
  action,
});

function natPolicy(family: Family, facts: NodeRuleFacts, options: IpvsOptions): PolicyChain[] {
  const local = localMatch(options.localDetector, family, facts.podNetwork);
  const services: PolicyChain['rules'] = [
    always([{ is: 'source', network: LOOPBACK[family] }], 'return'),
    { each: 'shortcut', rules: shortcutRules(local) },
    when('KUBE-LOAD-BALANCER', [inSet('KUBE-LOAD-BALANCER')], { jump: 'KUBE-LOAD-BALANCER' }),
    ...masqueradeClusterIPs(local, options),
    when('KUBE-EXTERNAL-IP', [inSet('KUBE-EXTERNAL-IP')], MARK),
    ...acceptExternal('KUBE-EXTERNAL-IP'),
    ...acceptExternal('KUBE-EXTERNAL-IP-LOCAL'),
    always([TO_LOCAL], { jump: 'KUBE-NODE-PORT' }),
    when('KUBE-CLUSTER-IP', [bare('KUBE-CLUSTER-IP')], 'accept'),
    when('KUBE-LOAD-BALANCER', [bare('KUBE-LOAD-BALANCER')], 'accept'),
  ];
  const loadBalancer: PolicyChain['rules'] = [
    when('KUBE-LOAD-BALANCER-LOCAL', [inSet('KUBE-LOAD-BALANCER-LOCAL')], 'return'),
    always([], MARK),
  ];
  const nodePort = NODE_PORT_SETS.flatMap(({ protocol, role, localRole, fields }): PolicyRule[] => [
    when(localRole, [{ is: 'protocol', protocol }, inSet(localRole, fields)], 'return'),
    when(role, [{ is: 'protocol', protocol }, inSet(role, fields)], MARK),
  ]);
  const loopBack = when('KUBE-LOOP-BACK', [inSet('KUBE-LOOP-BACK', 'dst,dst,src')], 'masquerade');
  return [
    { table: 'nat', name: 'KUBE-SERVICES', rules: services },
    { table: 'nat', name: 'KUBE-POSTROUTING', rules: [loopBack, { shared: 'masqueradeMarked' }] },
    { table: 'nat', name: 'KUBE-NODE-PORT', rules: nodePort },
    { table: 'nat', name: 'KUBE-LOAD-BALANCER', rules: loadBalancer },
    { table: 'nat', name: 'KUBE-MARK-MASQ', rules: [{ shared: 'setMark' }] },
  ];
}

/** Clients of the cluster use the cluster IP. The source of the node's own traffic is the address itself: it is masqueraded. */
function shortcutRules(local: LocalMatch | undefined): PolicyRule[] {
  const ownNode: readonly Condition[] = [{ is: 'toShortcut' }, { is: 'local', address: 'source' }];
  const own = [always(ownNode, MARK), always(ownNode, 'toClusterIP')];
  if (local === undefined) return own;
  const ofPods = containsAll(local) ? [] : [isLocal(local)];
  return [...own, always([...ofPods, { is: 'toShortcut' }], 'toClusterIP')];
}

function isLocal(local: LocalMatch, not?: true): Condition {
  const negation = not && { not };
  return 'interface' in local
    ? { is: 'input', link: local.interface, ...negation }
    : { is: 'source', network: local.network, ...negation };
}

/** Masquerades traffic to cluster IPs: all, or all that is not local, or without a detector only that of the node. */
function masqueradeClusterIPs(
  local: LocalMatch | undefined,
  { masqueradeAll }: Pick<IpvsOptions, 'masqueradeAll'>,
): PolicyRule[] {
  const mark = (...conditions: readonly Condition[]) => [when('KUBE-CLUSTER-IP', conditions, MARK)];
  if (masqueradeAll) return mark(inSet('KUBE-CLUSTER-IP'));
  if (local === undefined) return mark(inSet('KUBE-CLUSTER-IP', 'src,dst'));
  return containsAll(local) ? [] : mark(isLocal(local, true), inSet('KUBE-CLUSTER-IP'));
}

/** Accepts traffic from other hosts, and traffic to local addresses, before the node-port rules. */
function acceptExternal(role: SetRole): PolicyRule[] {
  const fromOthers: readonly Condition[] = [
    { is: 'notBridged' },
    { is: 'local', address: 'source', not: true },
  ];
  const accept = (...conditions: readonly Condition[]) => when(role, [inSet(role), ...conditions], 'accept');
  return [accept(...fromOthers), accept(TO_LOCAL)];
}

/** The sets of node ports: of all, and of those with policy Local. */
const NODE_PORT_SETS = [
  { protocol: 'tcp', role: 'KUBE-NODE-PORT-TCP', localRole: 'KUBE-NODE-PORT-LOCAL-TCP', fields: 'dst' },
  { protocol: 'udp', role: 'KUBE-NODE-PORT-UDP', localRole: 'KUBE-NODE-PORT-LOCAL-UDP', fields: 'dst' },
  {
    protocol: 'sctp',
    role: 'KUBE-NODE-PORT-SCTP-HASH',
    localRole: 'KUBE-NODE-PORT-LOCAL-SCTP-HASH',
    fields: 'dst,dst',
  },
] as const;

function filterPolicy({ receivesTunnels }: NodeRuleFacts, { cures }: IpvsOptions): PolicyChain[] {
  const ranges = (role: SetRole) => when(role, [inSet(role, 'dst,dst,src')], 'return');
  const pass = (role: SetRole, fields?: Fields) => always([bare(role, fields)], 'return');
  const fromTunnels = Object.values(TUNNEL_LINKS).map((link) => always([{ is: 'input', link }], 'drop'));
  const chains: Readonly<Record<string, PolicyChain['rules']>> = {
    'KUBE-FORWARD': [{ shared: 'acceptForwarded' }],
    // Accepted for a policy DROP of chain INPUT.
    'KUBE-NODE-PORT': [
      always([inSet('KUBE-HEALTH-CHECK-NODE-PORT', 'dst')], 'accept'),
      ...(cures.has('accept-node-ports')
        ? NODE_PORT_SETS.map(({ protocol, role, fields }) =>
            when(role, [{ is: 'protocol', protocol }, inSet(role, fields)], 'accept'),
          )
        : []),
    ],
    'KUBE-PROXY-FIREWALL': [
      when('KUBE-LOAD-BALANCER-FW', [inSet('KUBE-LOAD-BALANCER-FW')], {
        jump: 'KUBE-SOURCE-RANGES-FIREWALL',
      }),
    ],
    'KUBE-SOURCE-RANGES-FIREWALL': [
      ranges('KUBE-LOAD-BALANCER-SOURCE-CIDR'),
      ranges('KUBE-LOAD-BALANCER-SOURCE-IP'),
      always([], 'drop'),
    ],
    // Virtual IPs are local addresses: only ports of Services may be reachable on them.
    'KUBE-IPVS-FILTER': [
      pass('KUBE-LOAD-BALANCER'),
      pass('KUBE-CLUSTER-IP'),
      pass('KUBE-EXTERNAL-IP'),
      pass('KUBE-EXTERNAL-IP-LOCAL'),
      // Only ports of Services are reachable through a tunnel.
      ...(receivesTunnels ? fromTunnels : []),
      pass('KUBE-HEALTH-CHECK-NODE-PORT', 'dst'),
      always([{ is: 'new' }, bare('KUBE-IPVS-IPS', 'dst')], 'reject'),
    ],
    // Traffic of the node itself has the local VIP as its source, so no source range can match it.
    'KUBE-IPVS-OUT-FILTER': [{ each: 'nodeDrop', rules: [always([{ is: 'ofNodeDrop' }], 'drop')] }],
  };
  return Object.entries(chains).map(([name, rules]) => ({ table: 'filter', name, rules }));
}

/**
 * Our jumps from built-in chains. They are inserted at the head in this order, so the last one is the first in its chain.
 */
export const JUMPS: readonly {
  readonly table: PolicyChain['table'];
  readonly from: string;
  readonly comment: string;
  readonly to: string;
}[] = (
  [
    ['nat', 'OUTPUT', 'kubernetes service portals', 'KUBE-SERVICES'],
    ['nat', 'PREROUTING', 'kubernetes service portals', 'KUBE-SERVICES'],
    ['nat', 'POSTROUTING', 'kubernetes postrouting rules', 'KUBE-POSTROUTING'],
    ['filter', 'FORWARD', 'kubernetes forwarding rules', 'KUBE-FORWARD'],
    ['filter', 'INPUT', 'kubernetes health check rules', 'KUBE-NODE-PORT'],
    ['filter', 'INPUT', 'kube-proxy firewall rules', 'KUBE-PROXY-FIREWALL'],
    ['filter', 'FORWARD', 'kube-proxy firewall rules', 'KUBE-PROXY-FIREWALL'],
    ['filter', 'INPUT', 'kubernetes ipvs access filter', 'KUBE-IPVS-FILTER'],
    ['filter', 'OUTPUT', 'kubernetes ipvs access filter', 'KUBE-IPVS-OUT-FILTER'],
  ] as const
).map(([table, from, comment, to]) => ({ table, from, comment, to }));
