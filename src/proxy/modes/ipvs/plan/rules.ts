// The iptables rules of ipvs mode, as iptables-save prints them. Except in KUBE-IPVS-OUT-FILTER and those of shortcuts, their number does
// not depend on the number of Services. Their order in a chain is significant.
import type { Chain, ChainRule, Table } from '../../../../kernel/iptables/types.js';
import { type Family, joinHostPort } from '../../../../kernel/net/address.js';
import { PROTOCOL_NUMBERS, type Protocol } from '../../../../kernel/net/protocol.js';
import { acceptForwarded, masqueradeMarked, reject, setMark } from '../../iptablesRules/plan/fixedRules.js';
import { containsAll, localMatch } from '../../shared/plan/localDetector.js';
import type { NodeDrop, Shortcut } from './items.js';
import type { IpvsOptions } from './options.js';
import { commentOf, type SetRole, setOf } from './sets.js';
import { TUNNEL_LINKS } from './tunnels.js';

/** Our chains, by table. */
export const CHAINS: Readonly<Record<Table, readonly string[]>> = {
  nat: ['KUBE-SERVICES', 'KUBE-POSTROUTING', 'KUBE-NODE-PORT', 'KUBE-LOAD-BALANCER', 'KUBE-MARK-MASQ'],
  filter: [
    'KUBE-FORWARD',
    'KUBE-NODE-PORT',
    'KUBE-PROXY-FIREWALL',
    'KUBE-SOURCE-RANGES-FIREWALL',
    'KUBE-IPVS-FILTER',
    'KUBE-IPVS-OUT-FILTER',
  ],
  mangle: [],
};

/** The chains that refuse packets to virtual services of which some clients are excluded. */
export const FIREWALLS: readonly string[] = [
  'KUBE-PROXY-FIREWALL',
  'KUBE-SOURCE-RANGES-FIREWALL',
  'KUBE-IPVS-OUT-FILTER',
];

/**
 * Our rules in built-in chains. They are inserted at the head in this order, so the last one is the first in its chain.
 */
const JUMPS: readonly (readonly [table: Table, from: string, comment: string, to: string])[] = [
  ['nat', 'OUTPUT', 'kubernetes service portals', 'KUBE-SERVICES'],
  ['nat', 'PREROUTING', 'kubernetes service portals', 'KUBE-SERVICES'],
  ['nat', 'POSTROUTING', 'kubernetes postrouting rules', 'KUBE-POSTROUTING'],
  ['filter', 'FORWARD', 'kubernetes forwarding rules', 'KUBE-FORWARD'],
  ['filter', 'INPUT', 'kubernetes health check rules', 'KUBE-NODE-PORT'],
  ['filter', 'INPUT', 'kube-proxy firewall rules', 'KUBE-PROXY-FIREWALL'],
  ['filter', 'FORWARD', 'kube-proxy firewall rules', 'KUBE-PROXY-FIREWALL'],
  ['filter', 'INPUT', 'kubernetes ipvs access filter', 'KUBE-IPVS-FILTER'],
  ['filter', 'OUTPUT', 'kubernetes ipvs access filter', 'KUBE-IPVS-OUT-FILTER'],
];

/** The jumps of a family, in the order of their insertion. */
export function jumps(family: Family): ChainRule[] {
  return JUMPS.map(([table, chain, comment, to]) => ({
    family,
    table,
    chain,
    text: `-m comment --comment "${comment}" -j ${to}`,
  }));
}

/** The facts that rules depend on, besides the options. */
interface RuleFacts {
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

/** Every chain of a family with its rules. */
export function chains(family: Family, facts: RuleFacts, options: IpvsOptions): Chain[] {
  const rules = { ...natRules(family, facts, options), ...filterRules(family, facts, options) };
  return (['nat', 'filter'] as const).flatMap((table) =>
    CHAINS[table].map((name) => ({ family, table, name, rules: rules[`${table}/${name}`] ?? [] })),
  );
}

type RulesByChain = Record<string, string[]>;

function natRules(family: Family, facts: RuleFacts, options: IpvsOptions): RulesByChain {
  const { has } = facts;
  const when = (role: SetRole, ...rules: string[]) => (has(role) ? rules : []);
  const match = (role: SetRole, dimensions = 'dst,dst') => matchSet(family, role, dimensions);
  const nodePort = (protocol: string, role: SetRole, dimensions: string, target: string) =>
    when(role, `-p ${protocol} ${match(role, dimensions)} -j ${target}`);
  return {
    'nat/KUBE-SERVICES': [
      `-s ${family === 4 ? '127.0.0.0/8' : '::1/128'} -j RETURN`,
      ...shortcutRules(family, facts, options),
      ...when('KUBE-LOAD-BALANCER', `${match('KUBE-LOAD-BALANCER')} -j KUBE-LOAD-BALANCER`),
      ...when('KUBE-CLUSTER-IP', ...masqueradeClusterIPs(family, facts, options)),
      ...when('KUBE-EXTERNAL-IP', `${match('KUBE-EXTERNAL-IP')} -j KUBE-MARK-MASQ`),
      ...when('KUBE-EXTERNAL-IP', ...acceptExternal(match('KUBE-EXTERNAL-IP'))),
      ...when('KUBE-EXTERNAL-IP-LOCAL', ...acceptExternal(match('KUBE-EXTERNAL-IP-LOCAL'))),
      '-m addrtype --dst-type LOCAL -j KUBE-NODE-PORT',
      ...when('KUBE-CLUSTER-IP', `${bareMatch(family, 'KUBE-CLUSTER-IP')} -j ACCEPT`),
      ...when('KUBE-LOAD-BALANCER', `${bareMatch(family, 'KUBE-LOAD-BALANCER')} -j ACCEPT`),
    ],
    'nat/KUBE-LOAD-BALANCER': [
      ...when('KUBE-LOAD-BALANCER-LOCAL', `${match('KUBE-LOAD-BALANCER-LOCAL')} -j RETURN`),
      '-j KUBE-MARK-MASQ',
    ],
    'nat/KUBE-NODE-PORT': [
      ...nodePort('tcp', 'KUBE-NODE-PORT-LOCAL-TCP', 'dst', 'RETURN'),
      ...nodePort('tcp', 'KUBE-NODE-PORT-TCP', 'dst', 'KUBE-MARK-MASQ'),
      ...nodePort('udp', 'KUBE-NODE-PORT-LOCAL-UDP', 'dst', 'RETURN'),
      ...nodePort('udp', 'KUBE-NODE-PORT-UDP', 'dst', 'KUBE-MARK-MASQ'),
      ...nodePort('sctp', 'KUBE-NODE-PORT-LOCAL-SCTP-HASH', 'dst,dst', 'RETURN'),
      ...nodePort('sctp', 'KUBE-NODE-PORT-SCTP-HASH', 'dst,dst', 'KUBE-MARK-MASQ'),
    ],
    'nat/KUBE-POSTROUTING': [
      ...when('KUBE-LOOP-BACK', `${match('KUBE-LOOP-BACK', 'dst,dst,src')} -j MASQUERADE`),
      ...masqueradeMarked(options.masqueradeMark),
    ],
    'nat/KUBE-MARK-MASQ': setMark(options.masqueradeMark),
  };
}

/** Clients of the cluster use the cluster IP. The source of the node's own traffic is the address itself: it is masqueraded. */
function shortcutRules(
  family: Family,
  { shortcuts, podNetwork }: RuleFacts,
  { localDetector }: IpvsOptions,
): string[] {
  const local = shortcuts.length > 0 ? localMatch(localDetector, family, podNetwork) : undefined;
  const rulesOf = ({ address, port, protocol, clusterIP, clusterPort }: Shortcut): string[] => {
    const to = `-d ${address}/${family === 4 ? 32 : 128}`;
    const ports = `-p ${protocol} -m ${protocol} --dport ${port}`;
    const target = `-j DNAT --to-destination ${joinHostPort(clusterIP, clusterPort)}`;
    const ownNode = `${to} ${ports} -m addrtype --src-type LOCAL`;
    const own = [`${ownNode} -j KUBE-MARK-MASQ`, `${ownNode} ${target}`];
    if (local === undefined) return own;
    if ('interface' in local) return [...own, `${to} -i ${local.interface} ${ports} ${target}`];
    return [...own, `${containsAll(local) ? '' : `-s ${local.network} `}${to} ${ports} ${target}`];
  };
  return shortcuts.map(rulesOf).sort().flat();
}

const SHORTCUT =
  /^-d (\S+)\/\d+ -p (tcp|udp|sctp) -m \2 --dport (\d+) -m addrtype --src-type LOCAL -j DNAT --to-destination (\S+)$/;

/** The shortcuts of a chain's rules: the inverse of {@link shortcutRules}. */
export function shortcutsOf({ family, table, name, rules }: Chain): Shortcut[] {
  if (`${table}/${name}` !== 'nat/KUBE-SERVICES') return [];
  return rules.flatMap((rule): Shortcut[] => {
    const [, address = '', protocol, port, target = ''] = SHORTCUT.exec(rule) ?? [];
    const [, clusterIP = '', clusterPort] = /^\[?(.+?)\]?:(\d+)$/.exec(target) ?? [];
    if (!protocol) return [];
    const id = { family, address, protocol: protocol as Protocol, port: Number(port) };
    return [{ kind: 'shortcut', ...id, clusterIP, clusterPort: Number(clusterPort) }];
  });
}

/** Masquerades traffic to cluster IPs: all, or all that is not local, or without a detector only that of the node. */
function masqueradeClusterIPs(
  family: Family,
  { podNetwork }: RuleFacts,
  { masqueradeAll, localDetector }: IpvsOptions,
): string[] {
  const match = (dimensions: string) =>
    `${matchSet(family, 'KUBE-CLUSTER-IP', dimensions)} -j KUBE-MARK-MASQ`;
  if (masqueradeAll) return [match('dst,dst')];
  const local = localMatch(localDetector, family, podNetwork);
  if (local === undefined) return [match('src,dst')];
  if (containsAll(local)) return [];
  const option = 'interface' in local ? `-i ${local.interface}` : `-s ${local.network}`;
  return [`! ${option} ${match('dst,dst')}`];
}

/** Accepts traffic from other hosts, and traffic to local addresses, before the node-port rules. */
function acceptExternal(match: string): string[] {
  return [
    `${match} -m physdev ! --physdev-is-in -m addrtype ! --src-type LOCAL -j ACCEPT`,
    `${match} -m addrtype --dst-type LOCAL -j ACCEPT`,
  ];
}

/** Sets of node ports that must be accepted if the policy of chain INPUT is DROP. */
const NODE_PORT_SETS = [
  ['tcp', 'KUBE-NODE-PORT-TCP', 'dst'],
  ['udp', 'KUBE-NODE-PORT-UDP', 'dst'],
  ['sctp', 'KUBE-NODE-PORT-SCTP-HASH', 'dst,dst'],
] as const;

function filterRules(
  family: Family,
  { has, nodeDrops, receivesTunnels }: RuleFacts,
  { masqueradeMark, cures }: IpvsOptions,
): RulesByChain {
  const when = (role: SetRole, dimensions: string, target: string) =>
    has(role) ? [`${matchSet(family, role, dimensions)} -j ${target}`] : [];
  const accept = ([protocol, role, dimensions]: (typeof NODE_PORT_SETS)[number]) =>
    has(role) ? [`-p ${protocol} ${matchSet(family, role, dimensions)} -j ACCEPT`] : [];
  const pass = (role: SetRole, dimensions = 'dst,dst') => `${bareMatch(family, role, dimensions)} -j RETURN`;
  return {
    'filter/KUBE-FORWARD': acceptForwarded(masqueradeMark),
    'filter/KUBE-NODE-PORT': [
      `${matchSet(family, 'KUBE-HEALTH-CHECK-NODE-PORT', 'dst')} -j ACCEPT`,
      ...(cures.has('accept-node-ports') ? NODE_PORT_SETS.flatMap(accept) : []),
    ],
    'filter/KUBE-PROXY-FIREWALL': when('KUBE-LOAD-BALANCER-FW', 'dst,dst', 'KUBE-SOURCE-RANGES-FIREWALL'),
    'filter/KUBE-SOURCE-RANGES-FIREWALL': [
      ...when('KUBE-LOAD-BALANCER-SOURCE-CIDR', 'dst,dst,src', 'RETURN'),
      ...when('KUBE-LOAD-BALANCER-SOURCE-IP', 'dst,dst,src', 'RETURN'),
      '-j DROP',
    ],
    // Virtual IPs are local addresses: only ports of Services may be reachable on them.
    'filter/KUBE-IPVS-FILTER': [
      pass('KUBE-LOAD-BALANCER'),
      pass('KUBE-CLUSTER-IP'),
      pass('KUBE-EXTERNAL-IP'),
      pass('KUBE-EXTERNAL-IP-LOCAL'),
      // Only ports of Services are reachable through a tunnel.
      ...(receivesTunnels ? DROPS_FROM_TUNNELS : []),
      pass('KUBE-HEALTH-CHECK-NODE-PORT', 'dst'),
      `-m conntrack --ctstate NEW ${bareMatch(family, 'KUBE-IPVS-IPS', 'dst')} -j ${reject(family)}`,
    ],
    'filter/KUBE-IPVS-OUT-FILTER': nodeDrops.map(dropFromNode).sort(),
  };
}

const DROPS_FROM_TUNNELS = Object.values(TUNNEL_LINKS).map((link) => `-i ${link} -j DROP`);

/** Whether a chain refuses packets of tunnels to other ports than those of Services. */
export function dropsFromTunnels({ rules }: Pick<Chain, 'rules'>): boolean {
  return DROPS_FROM_TUNNELS.every((rule) => rules.includes(rule));
}

/** Traffic of the node itself has the local VIP as its source, so no source range can match it. */
function dropFromNode({ family, address, protocol, port }: NodeDrop): string {
  const source = `-s ${address}/${family === 4 ? 32 : 128}`;
  return `${source} -m ipvs --vproto ${PROTOCOL_NUMBERS[protocol]} --vaddr ${address} --vport ${port} -j DROP`;
}

const PROTOCOLS = Object.keys(PROTOCOL_NUMBERS) as Protocol[];
const NODE_DROP = /^-s (\S+)\/\d+ -m ipvs --vproto (\d+) --vaddr \S+ --vport (\d+) -j DROP$/;

/** The nodeDrops of a chain's rules: the inverse of {@link dropFromNode}. */
export function nodeDropsOf({ family, table, name, rules }: Chain): NodeDrop[] {
  if (`${table}/${name}` !== 'filter/KUBE-IPVS-OUT-FILTER') return [];
  return rules.flatMap((rule): NodeDrop[] => {
    const [, address = '', number, port] = NODE_DROP.exec(rule) ?? [];
    const protocol = PROTOCOLS.find((name) => PROTOCOL_NUMBERS[name] === Number(number));
    return protocol ? [{ kind: 'nodeDrop', family, address, protocol, port: Number(port) }] : [];
  });
}

function matchSet(family: Family, role: SetRole, dimensions: string): string {
  const comment = commentOf(role).replaceAll("'", "\\'");
  return `-m comment --comment "${comment}" ${bareMatch(family, role, dimensions)}`;
}

function bareMatch(family: Family, role: SetRole, dimensions = 'dst,dst'): string {
  return `-m set --match-set ${setOf(role, family).name} ${dimensions}`;
}
