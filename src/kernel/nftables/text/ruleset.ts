// A ruleset as `nft list ruleset` lists it (nft 1.0.6). Pure: names of links, users and protocols are not looked up on this machine.
import type { BaseChain, Chain, NftObject, Rule, Table, TableFamily } from '../types.js';
import { ruleText, type Surroundings } from './rules.js';
import { type SetContent, setLines } from './sets.js';
import { plainStatement, quotaContent } from './statements.js';

/** What a network namespace has, in the kernel's order. */
export interface Ruleset {
  readonly tables: readonly Table[];
  readonly chains: readonly Chain[];
  readonly rules: readonly Rule[];
  /** Those of rules, too. */
  readonly sets: readonly SetContent[];
  readonly objects: readonly NftObject[];
  /** Names of links by their indexes, for `iif "lo"`. Default: indexes are numbers. */
  readonly links?: ReadonlyMap<number, string>;
}

/** The text of a ruleset. What has no notation here is in brackets. */
export function formatRuleset(ruleset: Ruleset): string {
  const contents = contentsOf(ruleset);
  const links = ruleset.links ?? new Map<number, string>();
  return ruleset.tables
    .flatMap((table) => tableLines(table, contents.get(keyOf(table)) ?? EMPTY, links))
    .join('');
}

/** What is in one table. */
interface Content {
  readonly chains: Chain[];
  /** By chain. */
  readonly rules: Map<string, Rule[]>;
  /** By name. */
  readonly sets: Map<string, SetContent>;
  readonly objects: NftObject[];
}

const EMPTY: Content = { chains: [], rules: new Map(), sets: new Map(), objects: [] };

function keyOf({ family, name }: { readonly family: TableFamily; readonly name: string }): string {
  return `${family} ${name}`;
}

/** The contents of the tables, in one pass. */
function contentsOf({ tables, chains, rules, sets, objects }: Ruleset): Map<string, Content> {
  const contents = new Map<string, Content>();
  for (const table of tables) {
    contents.set(keyOf(table), { chains: [], rules: new Map(), sets: new Map(), objects: [] });
  }
  const of = ({ family, table }: { readonly family: TableFamily; readonly table: string }) =>
    contents.get(keyOf({ family, name: table }));
  for (const chain of chains) of(chain)?.chains.push(chain);
  for (const content of sets) of(content.set)?.sets.set(content.set.name, content);
  for (const object of objects) of(object)?.objects.push(object);
  for (const rule of rules) {
    const lists = of(rule)?.rules;
    const list = lists?.get(rule.chain);
    if (list) list.push(rule);
    else lists?.set(rule.chain, [rule]);
  }
  return contents;
}

function tableLines(
  table: Table,
  { chains, rules, sets, objects }: Content,
  links: ReadonlyMap<number, string>,
): string[] {
  const lines = [`table ${table.family} ${table.name} {\n`];
  const flags = table.flags.filter((flag) => typeof flag === 'string');
  if (flags.length > 0) lines.push(`\tflags ${flags.join(',')}\n`);
  if (table.comment !== undefined) lines.push(`\tcomment "${table.comment}"\n`);
  const find = (name: string) => sets.get(name);
  const blocks = [
    ...objects.map(objectLines),
    ...[...sets.values()]
      .filter(({ set }) => !set.anonymous)
      .map((content) => setLines(content, expressionsText)),
    ...chains.map((chain) => chainLines(chain, rules.get(chain.name) ?? [], { find, links })),
  ];
  blocks.forEach((block, i) => {
    if (i > 0 || flags.length > 0) lines.push('\n');
    for (const line of block) lines.push(line, '\n');
  });
  lines.push('}\n');
  return lines;
}

function expressionsText(expressions: Rule['expressions']): string[] {
  return expressions.map((each) => plainStatement(each) ?? `[${each.kind}]`);
}

function objectLines(object: NftObject): string[] {
  const lines = [`\t${object.type} ${object.name} {`];
  if ('comment' in object && object.comment !== undefined) lines.push(`\t\tcomment "${object.comment}"`);
  if (object.type === 'counter')
    lines.push(`\t\tpackets ${object.packets ?? 0n} bytes ${object.bytes ?? 0n}`);
  else if (object.type === 'quota') lines.push(`\t\t${quotaContent(object)}`);
  lines.push('\t}');
  return lines;
}

function chainLines(chain: Chain, rules: readonly Rule[], surroundings: Surroundings): string[] {
  const lines = [`\tchain ${chain.name} {`];
  if (chain.comment !== undefined) lines.push(`\t\tcomment "${chain.comment}"`);
  if (chain.base) lines.push(`\t\t${baseText(chain.base, chain.family)}`);
  for (const rule of rules) {
    const comment = rule.comment === undefined ? '' : ` comment "${rule.comment}"`;
    lines.push(`\t\t${ruleText(rule, surroundings)}${comment}`);
  }
  lines.push('\t}');
  return lines;
}

function baseText({ type, hook, priority, policy, devices = [] }: BaseChain, family: TableFamily): string {
  const names = devices.map((device) => `"${device}"`).join(', ');
  const on =
    devices.length === 0 ? '' : devices.length === 1 ? ` device ${names}` : ` devices = { ${names} }`;
  const end = policy === undefined ? '' : ` policy ${policy};`;
  return `type ${type} hook ${hook}${on} priority ${priorityText(priority, family, hook)};${end}`;
}

/** A name of a priority: its number, and the hooks at which it is used; none for all. */
type Named = readonly [name: string, number: number, hook?: string];

/** Names of priorities of most families. */
export const PRIORITIES: readonly Named[] = [
  ['raw', -300],
  ['mangle', -150],
  ['dstnat', -100, 'prerouting'],
  ['filter', 0],
  ['security', 50],
  ['srcnat', 100, 'postrouting'],
];
/** Those of the family `bridge`. */
export const BRIDGE_PRIORITIES: readonly Named[] = [
  ['dstnat', -300, 'prerouting'],
  ['filter', -200],
  ['out', 100, 'output'],
  ['srcnat', 300, 'postrouting'],
];
const FILTER: readonly Named[] = [['filter', 0]];
/** The longest distance from a number with a name. */
const REACH = 10;

function priorityText(priority: number, family: TableFamily, hook: BaseChain['hook']): string {
  const names =
    family === 'bridge' ? BRIDGE_PRIORITIES : family === 'arp' || family === 'netdev' ? FILTER : PRIORITIES;
  const found = names.find(([, number, at]) => Math.abs(priority - number) <= REACH && (!at || at === hook));
  if (!found) return String(priority);
  const [name, number] = found;
  if (priority === number) return name;
  return `${name} ${priority > number ? '+' : '-'} ${Math.abs(priority - number)}`;
}
