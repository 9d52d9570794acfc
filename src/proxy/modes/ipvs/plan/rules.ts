// The rules of the policy as iptables-save prints them. Except in KUBE-IPVS-OUT-FILTER and those of shortcuts, their number does not depend
// on the number of Services.
import type { Chain, ChainRule, Table } from '../../../../kernel/iptables/types.js';
import { type Family, joinHostPort } from '../../../../kernel/net/address.js';
import { PROTOCOL_NUMBERS, type Protocol } from '../../../../kernel/net/protocol.js';
import { acceptForwarded, masqueradeMarked, reject, setMark } from '../../iptablesRules/plan/fixedRules.js';
import type { NodeDrop, Shortcut } from './items.js';
import type { IpvsOptions } from './options.js';
import {
  type Action,
  type Condition,
  JUMPS,
  type PolicyChain,
  type PolicyRule,
  policy,
  type RuleFacts,
  type RuleGroup,
} from './policy.js';
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

/** The jumps of a family, in the order of their insertion. */
export function jumps(family: Family): ChainRule[] {
  return JUMPS.map(({ table, from, comment, to }) => ({
    family,
    table,
    chain: from,
    text: `-m comment --comment "${comment}" -j ${to}`,
  }));
}

/** Every chain of a family with its rules. */
export function chains(family: Family, facts: RuleFacts, options: IpvsOptions): Chain[] {
  return policy(family, facts, options).map(({ table, name, rules }) => ({
    family,
    table,
    name,
    rules: textsOf(family, rules, facts, options),
  }));
}

/** The texts of rules of a chain of the policy. */
export function textsOf(
  family: Family,
  rules: PolicyChain['rules'],
  facts: RuleFacts,
  { masqueradeMark }: Pick<IpvsOptions, 'masqueradeMark'>,
): string[] {
  return rules.flatMap((rule) => {
    if ('shared' in rule) return SHARED[rule.shared](masqueradeMark);
    if ('each' in rule) return textsOfEach(family, rule, facts);
    return rule.when === undefined || facts.has(rule.when) ? [ruleText(family, rule)] : [];
  });
}

const SHARED = { setMark, masqueradeMarked, acceptForwarded } as const;

function textsOfEach(
  family: Family,
  { each, rules }: Extract<RuleGroup, { each: unknown }>,
  { nodeDrops, shortcuts }: RuleFacts,
): string[] {
  const items: readonly (NodeDrop | Shortcut)[] = each === 'nodeDrop' ? nodeDrops : shortcuts;
  return items
    .map((item) => rules.map((rule) => ruleText(family, rule, item)))
    .sort()
    .flat();
}

/** A part of a rule's text, with its place among those of the header: `-s`, `-d`, `-i`, `-p`, then the matches in their order. */
type TextPart = readonly [place: 0 | 1 | 2 | 3 | 4, text: string];

function ruleText(family: Family, { conditions, action }: PolicyRule, item?: NodeDrop | Shortcut): string {
  const parts = conditions.flatMap((condition) => conditionTexts(family, condition, item));
  const texts = parts.toSorted(([a], [b]) => a - b).map(([, text]) => text);
  return [...texts, `-j ${targetOf(family, action, item)}`].join(' ');
}

function conditionTexts(
  family: Family,
  condition: Condition,
  item: NodeDrop | Shortcut | undefined,
): TextPart[] {
  const not = 'not' in condition && condition.not ? '! ' : '';
  switch (condition.is) {
    case 'source':
      return [[0, `${not}-s ${condition.network}`]];
    case 'input':
      return [[2, `${not}-i ${condition.link}`]];
    case 'protocol':
      return [[3, `-p ${condition.protocol}`]];
    case 'inSet':
      return [[4, matchSet(family, condition)]];
    case 'local':
      return [[4, `-m addrtype ${not}--${condition.address === 'source' ? 'src' : 'dst'}-type LOCAL`]];
    case 'notBridged':
      return [[4, '-m physdev ! --physdev-is-in']];
    case 'new':
      return [[4, '-m conntrack --ctstate NEW']];
    case 'toShortcut':
    case 'ofNodeDrop':
      return item ? dialledTexts(item) : [];
  }
}

function dialledTexts({ kind, family, address, protocol, port }: NodeDrop | Shortcut): TextPart[] {
  const host = `${address}/${family === 4 ? 32 : 128}`;
  if (kind === 'shortcut') {
    return [
      [1, `-d ${host}`],
      [3, `-p ${protocol} -m ${protocol} --dport ${port}`],
    ];
  }
  const service = `--vproto ${PROTOCOL_NUMBERS[protocol]} --vaddr ${address} --vport ${port}`;
  return [
    [0, `-s ${host}`],
    [4, `-m ipvs ${service}`],
  ];
}

function targetOf(family: Family, action: Action, item: NodeDrop | Shortcut | undefined): string {
  if (typeof action === 'object') return action.jump;
  if (action === 'toClusterIP' && item?.kind === 'shortcut')
    return `DNAT --to-destination ${joinHostPort(item.clusterIP, item.clusterPort)}`;
  return action === 'reject' ? reject(family) : action.toUpperCase();
}

function matchSet(family: Family, { role, fields, comment }: Extract<Condition, { is: 'inSet' }>): string {
  const match = `-m set --match-set ${setOf(role, family).name} ${fields}`;
  return comment ? `${commentMatch(role)} ${match}` : match;
}

function commentMatch(role: SetRole): string {
  return `-m comment --comment "${commentOf(role).replaceAll("'", "\\'")}"`;
}

const SHORTCUT =
  /^-d (\S+)\/\d+ -p (tcp|udp|sctp) -m \2 --dport (\d+) -m addrtype --src-type LOCAL -j DNAT --to-destination (\S+)$/;

/** The shortcuts of a chain's rules. */
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

/** Whether a chain refuses packets of tunnels to other ports than those of Services. */
export function dropsFromTunnels({ rules }: Pick<Chain, 'rules'>): boolean {
  return Object.values(TUNNEL_LINKS).every((link) => rules.includes(`-i ${link} -j DROP`));
}

const PROTOCOLS = Object.keys(PROTOCOL_NUMBERS) as Protocol[];
const NODE_DROP = /^-s (\S+)\/\d+ -m ipvs --vproto (\d+) --vaddr \S+ --vport (\d+) -j DROP$/;

/** The nodeDrops of a chain's rules. */
export function nodeDropsOf({ family, table, name, rules }: Chain): NodeDrop[] {
  if (`${table}/${name}` !== 'filter/KUBE-IPVS-OUT-FILTER') return [];
  return rules.flatMap((rule): NodeDrop[] => {
    const [, address = '', number, port] = NODE_DROP.exec(rule) ?? [];
    const protocol = PROTOCOLS.find((name) => PROTOCOL_NUMBERS[name] === Number(number));
    return protocol ? [{ kind: 'nodeDrop', family, address, protocol, port: Number(port) }] : [];
  });
}
