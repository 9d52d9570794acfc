// The rules of the policy as expressions of nf_tables. A chain has the name of the table and chain of iptables: `nat/KUBE-SERVICES`. All rules
// are there at any time: a set without elements matches nothing.
import type { Family } from '../../../../kernel/net/address.js';
import { parseNetwork } from '../../../../kernel/net/network.js';
import type { BaseChain } from '../../../../kernel/nftables/types.js';
import { DSTNAT, FILTER, SRCNAT } from '../../nftablesRules/plan/chains.js';
import {
  ACCEPT,
  addressIn,
  addressInNetwork,
  CONTINUED_CONNECTION,
  connectionIn,
  DROP,
  destinationAndSourceIn,
  destinationIn,
  hasMark,
  hasProtocol,
  inputInterface,
  invertMark,
  isOfHost,
  keepDestination,
  MASQUERADE,
  NEW_CONNECTION,
  type Part,
  portIn,
  RETURN,
  type Rule,
  reject,
  rule,
  setMark,
  to,
  toLoaded,
} from '../../nftablesRules/plan/expressions.js';
import { sameRule } from '../../nftablesRules/plan/sameRules.js';
import { TABLE, type TableChain, tableChainKey, tableKey } from './items.js';
import type { IpvsOptions } from './options.js';
import {
  type Action,
  type Condition,
  JUMPS,
  type NodeRuleFacts,
  type PolicyChain,
  type PolicyRule,
  policy,
  type RuleGroup,
} from './policy.js';
import { setOf } from './sets.js';
import { NODE_DROPS, SHORTCUT_TARGETS, SHORTCUTS } from './table.js';
import { TUNNEL_LINKS } from './tunnels.js';

/** Before the chains of other programs at the same hook: kube-proxy's rules of iptables are at the head of their chains. */
const BEFORE = 10;

/**
 * The base chains. IPVS handles packets at `input` with priority 98 and 99, and those of the node itself at `output` with -99 and -98: rules
 * see the address that was dialled. What leaves by `output` is refused before IPVS translates it.
 */
const BASES: readonly (readonly [name: string, base: BaseChain])[] = [
  ['nat/PREROUTING', { type: 'nat', hook: 'prerouting', priority: DSTNAT - BEFORE }],
  ['nat/OUTPUT', { type: 'nat', hook: 'output', priority: DSTNAT - BEFORE }],
  ['nat/POSTROUTING', { type: 'nat', hook: 'postrouting', priority: SRCNAT - BEFORE }],
  ['filter/INPUT', { type: 'filter', hook: 'input', priority: FILTER }],
  ['filter/FORWARD', { type: 'filter', hook: 'forward', priority: FILTER }],
  ['filter/OUTPUT', { type: 'filter', hook: 'output', priority: DSTNAT - BEFORE }],
];

/** The chain that keeps other programs from translating packets to virtual IPs. */
const VIRTUAL_IPS = 'nat/KUBE-VIRTUAL-IPS';

/**
 * The base chains of {@link VIRTUAL_IPS}: after ours that mark packets, and before those of other programs, such as that of host ports. They are
 * added when the virtual services are there: until then, the rules of a former mode translate.
 */
const VIRTUAL_IP_BASES: readonly (readonly [name: string, base: BaseChain])[] = [
  ['nat/PREROUTING-VIRTUAL-IPS', { type: 'nat', hook: 'prerouting', priority: DSTNAT - BEFORE / 2 }],
  ['nat/OUTPUT-VIRTUAL-IPS', { type: 'nat', hook: 'output', priority: DSTNAT - BEFORE / 2 }],
];

/** Whether a chain is added only after the virtual services. */
export function followsServers({ name }: Pick<TableChain, 'name'>): boolean {
  return VIRTUAL_IP_BASES.some(([base]) => base === name);
}

/** What a watch must know of the tables. */
export function watchedTables(families: readonly Family[]) {
  return {
    families,
    name: TABLE,
    tableKey,
    chains: (family: Family) =>
      [...BASES, ...VIRTUAL_IP_BASES].map(([name]) => [tableChainKey(family, name), name] as const),
  };
}

/** The chains of a family's table, each behind those to which it leads. */
export function tableChains(family: Family, facts: NodeRuleFacts, options: IpvsOptions): TableChain[] {
  const chains = policy(family, facts, options);
  const chain = (name: string, rules: readonly Rule[], base?: BaseChain): TableChain => ({
    kind: 'tableChain',
    family,
    name,
    ...(base && { base }),
    rules,
  });
  return [
    ...chains.map(({ table, name, rules }) =>
      chain(chainName(table, name), rulesOf(family, table, rules, options)),
    ),
    chain(VIRTUAL_IPS, keepingRules(family, chains)),
    ...BASES.map(([name, base]) => chain(name, jumpsFrom(name), base)),
    ...VIRTUAL_IP_BASES.map(([name, base]) => chain(name, [rule([to('jump', VIRTUAL_IPS)])], base)),
  ];
}

/** The name of a chain: that of iptables with its table. */
export function chainName(table: string, chain: string): string {
  return `${table}/${chain}`;
}

/** The jumps of a base chain: the last that iptables inserts is the first. */
function jumpsFrom(base: string): Rule[] {
  return JUMPS.filter(({ table, from }) => chainName(table, from) === base)
    .toReversed()
    .map(({ table, to: target }) => jumpTo(table, target));
}

/** The rule that leads to a chain. */
export function jumpTo(table: string, chain: string): Rule {
  return rule([to('jump', chainName(table, chain))]);
}

/** The rules for those of a chain of the policy. */
export function rulesOf(
  family: Family,
  table: PolicyChain['table'],
  rules: PolicyChain['rules'],
  { masqueradeMark }: Pick<IpvsOptions, 'masqueradeMark'>,
): Rule[] {
  return rules.flatMap((each) => {
    if ('shared' in each) return SHARED[each.shared](masqueradeMark);
    if ('each' in each) return rulesOfEach(family, table, each);
    return ruleOf(family, table, each);
  });
}

/** As the rules of iptables of the same names. */
const SHARED: Readonly<Record<'setMark' | 'masqueradeMarked' | 'acceptForwarded', (mark: number) => Rule[]>> =
  {
    setMark: (mark) => [rule([setMark(mark)])],
    // The mark is cleared, so that a packet is not masqueraded again after encapsulation.
    masqueradeMarked: (mark) => [rule([hasMark(mark), invertMark(mark), MASQUERADE])],
    acceptForwarded: (mark) => [rule([hasMark(mark), ACCEPT]), rule([CONTINUED_CONNECTION, ACCEPT])],
  };

/** One rule for all items: they are elements of a set. */
function rulesOfEach(
  family: Family,
  table: string,
  { each, rules }: Extract<RuleGroup, { each: unknown }>,
): Rule[] {
  const own = rules.flatMap((one) => ruleOf(family, table, one));
  if (each === 'shortcut') return own;
  // These rules see packets to shortcuts before they are translated; iptables' see them afterwards, with the cluster IP.
  return [...ruleOf(family, table, { conditions: [{ is: 'toShortcut' }], action: 'return' }), ...own];
}

/**
 * The rule; none with condition `notBridged`, which nf_tables does not have at these hooks. That rule of iptables accepts packets to external IPs.
 * Without it, the next rule accepts those to a local address. The others match no later rule: those are for local addresses, or for other sets.
 */
function ruleOf(family: Family, table: string, { conditions, action }: PolicyRule): Rule[] {
  if (conditions.some(({ is }) => is === 'notBridged')) return [];
  return [rule([...conditionParts(family, conditions), actionOf(family, table, action)])];
}

function conditionParts(family: Family, conditions: readonly Condition[]): Part[] {
  const hasProtocols = conditions.some(({ is }) => is === 'protocol');
  return conditions.map((condition) => partOf(family, condition, hasProtocols));
}

function partOf(family: Family, condition: Condition, hasProtocols: boolean): Part {
  switch (condition.is) {
    case 'source': {
      const network = parseNetwork(condition.network);
      return network ? addressInNetwork(family, 'saddr', network, condition.not) : [];
    }
    case 'input':
      return inputInterface(condition.link, condition.not ?? false);
    case 'protocol':
      return hasProtocol(condition.protocol);
    case 'inSet':
      return inSet(family, condition, hasProtocols);
    case 'local':
      return isOfHost(condition.address === 'source' ? 'saddr' : 'daddr', condition.not);
    case 'new':
      return NEW_CONNECTION;
    case 'toShortcut':
      return destinationIn(family, SHORTCUTS);
    case 'ofNodeDrop':
      return connectionIn(family, NODE_DROPS);
    case 'notBridged':
      return [];
  }
}

/** Health checks are made with TCP. Their rules of iptables name no protocol, and match UDP too, on which nobody listens. */
function inSet(
  family: Family,
  { role, fields }: Extract<Condition, { is: 'inSet' }>,
  hasProtocols: boolean,
): Part {
  const { name, type } = setOf(role, family);
  switch (fields) {
    case 'dst':
      if (type === 'hash:ip') return addressIn(family, 'daddr', name);
      return hasProtocols ? portIn(name) : [...hasProtocol('tcp'), ...portIn(name)];
    case 'dst,dst':
      return destinationIn(family, name);
    case 'src,dst':
      return destinationIn(family, name, undefined, 'saddr');
    case 'dst,dst,src':
      return destinationAndSourceIn(family, name);
  }
}

function actionOf(family: Family, table: string, action: Action): Part {
  if (typeof action === 'object') return to('jump', chainName(table, action.jump));
  switch (action) {
    case 'accept':
      return ACCEPT;
    case 'return':
      return RETURN;
    case 'drop':
      return DROP;
    case 'reject':
      return reject(family);
    case 'masquerade':
      return [{ kind: 'masq' }];
    case 'toClusterIP':
      return [...destinationIn(family, SHORTCUT_TARGETS, 1), toLoaded(family)];
  }
}

/**
 * What is accepted in chain nat/KUBE-SERVICES of iptables meets no rule of table nat any more. Here, other programs have base chains of their own:
 * the kernel asks them only for packets that none before has translated. These packets are translated to the address that they have.
 */
function keepingRules(family: Family, chains: readonly PolicyChain[]): Rule[] {
  const services =
    chains.find(({ table, name }) => chainName(table, name) === 'nat/KUBE-SERVICES')?.rules ?? [];
  return services.flatMap((each, i) => {
    if (!('action' in each)) return [];
    if (i === 0) return ruleOf(family, 'nat', each); // Traffic of loopback addresses is left to others.
    if (each.action !== 'accept' || each.conditions.some(({ is }) => is === 'notBridged')) return [];
    return [rule([...conditionParts(family, each.conditions), keepDestination(family)])];
  });
}

/** Whether a chain refuses packets of tunnels to other ports than those of Services. */
export function hasTunnelRules(family: Family, { name, rules }: TableChain): boolean {
  if (name !== chainName('filter', 'KUBE-IPVS-FILTER')) return false;
  return Object.values(TUNNEL_LINKS).every((link) => {
    const conditions: Condition[] = [{ is: 'input', link }];
    const [wanted] = ruleOf(family, 'filter', { conditions, action: 'drop' });
    return wanted !== undefined && rules.some((each) => sameRule(each, wanted));
  });
}
