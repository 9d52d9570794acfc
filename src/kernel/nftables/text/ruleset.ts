// A ruleset as `nft list ruleset` lists it (nft 1.0.6; fields that it has no name for as nft 1.1.7), in steps. Pure: names of links, users and
// protocols are not looked up on this machine.
import { StepCounter, type Steps } from '../../steps.js';
import { TIMEOUTS } from '../expressions/objectParts.js';
import type {
  BaseChain,
  Chain,
  Element,
  FlowTable,
  NewObject,
  NftObject,
  Rule,
  Table,
  TableFamily,
} from '../types.js';
import { contentOf } from './print/loaded.js';
import type { Surroundings } from './print/printed.js';
import { ruleText } from './print/rule.js';
import { anonymousText, type Lines, type SetContent, setLines, unreadLines } from './sets.js';
import { limitText, quotaContent, synproxyContent } from './statements.js';
import { nameText, quoted, timeText } from './values.js';

/** What a network namespace has, in the kernel's order. */
export interface Ruleset {
  readonly tables: readonly Table[];
  readonly chains: readonly Chain[];
  readonly rules: readonly Rule[];
  /** Those of rules, too. */
  readonly sets: readonly SetContent[];
  readonly objects: readonly NftObject[];
  /** Default: none. */
  readonly flowTables?: readonly FlowTable[];
  /** Names of links by their indexes, for `iif "lo"`. Default: indexes are numbers. */
  readonly links?: ReadonlyMap<number, string>;
}

/** The text of a ruleset. What has no notation here is in brackets. */
export function formatRuleset(ruleset: Ruleset): string {
  const lines: string[] = [];
  for (const line of rulesetLines(ruleset)) if (line !== undefined) lines.push(line, '\n');
  return lines.join('');
}

/** The lines of {@link formatRuleset}. */
export function* rulesetLines(ruleset: Ruleset): Lines {
  const contents = yield* contentsOf(ruleset);
  const links = ruleset.links ?? new Map<number, string>();
  for (const table of ruleset.tables)
    yield* tableLines(table, contents.get(keyOf(table)) ?? emptyContent(), links);
}

/** What is in one table. */
interface Content {
  readonly chains: Chain[];
  /** By chain. */
  readonly rules: Map<string, Rule[]>;
  /** By name. */
  readonly sets: Map<string, SetContent>;
  readonly objects: NftObject[];
  readonly flowTables: FlowTable[];
}

function emptyContent(): Content {
  return { chains: [], rules: new Map(), sets: new Map(), objects: [], flowTables: [] };
}

function keyOf({ family, name }: { readonly family: TableFamily; readonly name: string }): string {
  return `${family} ${name}`;
}

/** The contents of the tables, in one pass. */
function* contentsOf(ruleset: Ruleset): Steps<Map<string, Content>> {
  const { tables, chains, rules, sets, objects, flowTables = [] } = ruleset;
  const counter = new StepCounter();
  const contents = new Map<string, Content>();
  for (const table of tables) {
    contents.set(keyOf(table), emptyContent());
  }
  const of = ({ family, table }: { readonly family: TableFamily; readonly table: string }) =>
    contents.get(keyOf({ family, name: table }));
  for (const chain of chains) {
    of(chain)?.chains.push(chain);
    if (counter.isFull()) yield;
  }
  for (const content of sets) {
    of(content.set)?.sets.set(content.set.name, content);
    if (counter.isFull()) yield;
  }
  for (const object of objects) {
    of(object)?.objects.push(object);
    if (counter.isFull()) yield;
  }
  for (const flowTable of flowTables) of(flowTable)?.flowTables.push(flowTable);
  for (const rule of rules) {
    const lists = of(rule)?.rules;
    const list = lists?.get(rule.chain);
    if (list) list.push(rule);
    else lists?.set(rule.chain, [rule]);
    if (counter.isFull()) yield;
  }
  return contents;
}

function* tableLines(table: Table, content: Content, links: ReadonlyMap<number, string>): Lines {
  yield `table ${table.family} ${nameText(table.name)} {`;
  const flags = table.flags.map((flag) => (typeof flag === 'string' ? flag : `[flag ${flag}]`));
  if (flags.length > 0) yield `\tflags ${flags.join(',')}`;
  if (table.comment !== undefined) yield `\tcomment ${quoted(table.comment)}`;
  yield* unreadLines('\t', table);
  let isSeparate = flags.length > 0;
  for (const block of blocksOf(content, links)) {
    if (isSeparate) yield '';
    yield* block;
    isSeparate = true;
  }
  yield '}';
}

/** The lines of each block of a table. */
function* blocksOf(
  { chains, rules, sets, objects, flowTables }: Content,
  links: ReadonlyMap<number, string>,
): Generator<Iterable<string | undefined>, void, undefined> {
  const find = (name: string) => sets.get(name);
  for (const object of objects) yield objectLines(object);
  for (const content of sets.values()) if (!content.set.anonymous) yield setLines(content);
  for (const flowTable of flowTables) yield flowTableLines(flowTable);
  for (const chain of chains) yield chainLines(chain, rules.get(chain.name) ?? [], { find, links });
}

function* objectLines(object: NftObject): Lines {
  yield `\t${typeof object.type === 'string' ? object.type : `[object ${object.type}]`} ${nameText(object.name)} {`;
  if ('comment' in object && object.comment !== undefined) yield `\t\tcomment ${quoted(object.comment)}`;
  yield* unreadLines('\t\t', object);
  for (const line of contentLines(object)) yield `\t\t${line}`;
  yield '\t}';
}

/** What an object has. One that could not be read has lines of its attributes. */
function contentLines(object: NftObject): string[] {
  if (object.attributes) return [];
  switch (object.type) {
    case 'counter':
      return [`packets ${object.packets ?? 0n} bytes ${object.bytes ?? 0n}`];
    case 'quota':
      return [quotaContent(object)];
    case 'limit':
      return [limitText(object).slice('limit '.length)];
    case 'ct helper':
      return [`type ${quoted(object.helper)} protocol ${object.protocol}`, ...networkLine(object)];
    case 'ct timeout':
      return [`protocol ${object.protocol}`, ...networkLine(object), policyLine(object)];
    case 'ct expectation': {
      const { protocol, port, timeout, size } = object;
      const time = timeText(BigInt(timeout));
      return [
        ...[`protocol ${protocol}`, `dport ${port}`, `timeout ${time}`, `size ${size}`],
        ...networkLine(object),
      ];
    }
    case 'secmark':
      return [quoted(object.context)];
    case 'synproxy':
      return synproxyContent(object)
        .split(/ (?=wscale)|(?<=\d) (?=timestamp|sack)/)
        .filter((line) => line !== '');
    default:
      return [];
  }
}

function networkLine({ network }: { readonly network?: string }): string[] {
  return network === undefined ? [] : [`l3proto ${network}`];
}

/** The times that are not those of the kernel; one if all are. */
function policyLine({ protocol, policy }: Extract<NewObject, { type: 'ct timeout' }>): string {
  const times = TIMEOUTS[protocol].filter(([name]) => policy[name] !== undefined);
  const others = times.filter(([name, time]) => policy[name] !== time);
  const texts = (others.length > 0 ? others : times.slice(0, 1)).map(([name]) => `${name} : ${policy[name]}`);
  return `policy = { ${texts.join(', ')} }`;
}

function* flowTableLines(flowTable: FlowTable): Lines {
  const { name, priority, devices = [], flags = [] } = flowTable;
  yield `\tflowtable ${nameText(name)} {`;
  yield `\t\thook ingress priority ${priorityText(priority, 'netdev', 'ingress')}`;
  if (devices.length > 0) yield `\t\tdevices = { ${devices.map(quoted).join(', ')} }`;
  if (flags.includes('offload')) yield '\t\tflags offload';
  if (flags.includes('counter')) yield '\t\tcounter';
  for (const flag of flags) if (typeof flag === 'number') yield `\t\t[flag ${flag}]`;
  yield* unreadLines('\t\t', flowTable);
  yield '\t}';
}

function* chainLines(chain: Chain, rules: readonly Rule[], surroundings: Surroundings): Lines {
  yield `\tchain ${nameText(chain.name)} {`;
  if (chain.comment !== undefined) yield `\t\tcomment ${quoted(chain.comment)}`;
  if (chain.base) yield `\t\t${baseText(chain.base, chain.family)}`;
  if (chain.flags) yield `\t\t[flags ${chain.flags}]`;
  yield* unreadLines('\t\t', chain);
  for (const rule of rules) {
    const written = yield* longSets(rule, surroundings);
    const comment = rule.comment === undefined ? '' : ` comment ${quoted(rule.comment)}`;
    const unread = [...unreadLines(' ', rule)].join('');
    yield `\t\t${ruleText(rule, written ? { ...surroundings, written } : surroundings)}${comment}${unread}`;
  }
  yield '\t}';
}

/** The most elements of a set that is written in one step with its rule. */
const ELEMENTS_AT_ONCE = 64;

/** The texts of long sets of a rule, by their elements; undefined if it has none. */
function* longSets(
  { expressions }: Rule,
  { find }: Surroundings,
): Steps<ReadonlyMap<readonly Element[], string> | undefined> {
  let written: Map<readonly Element[], string> | undefined;
  for (const expression of expressions) {
    if (expression.kind !== 'lookup' && expression.kind !== 'objrefMap') continue;
    const content = typeof expression.set === 'string' ? find(expression.set) : contentOf(expression.set);
    if (!content?.set.anonymous || content.elements.length <= ELEMENTS_AT_ONCE) continue;
    written ??= new Map();
    written.set(content.elements, yield* anonymousText(content));
  }
  return written;
}

function baseText({ type, hook, priority, policy, devices = [] }: BaseChain, family: TableFamily): string {
  const names = devices.map(quoted).join(', ');
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
