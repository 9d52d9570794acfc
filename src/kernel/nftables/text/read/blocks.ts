// What blocks of a table begin with and have beside elements and rules: types of sets, hooks of chains, counters of objects.
import { OBJECT_TYPES } from '../../numbers.js';
import type {
  BaseChain,
  Expression,
  FlowTableFlag,
  Hook,
  KeyExpression,
  NewChain,
  NewFlowTable,
  NewObject,
  NewSet,
  NewTable,
  ObjectType,
  SetFlag,
  TableFamily,
  TableFlag,
  ValueType,
  ValueTypes,
} from '../../types.js';
import { isKeyExpression, KEY_EXPRESSION_RULE } from '../../values/keyExpressions.js';
import { isValueType, VALUE_TYPES } from '../../values/valueTypes.js';
import { BRIDGE_PRIORITIES, PRIORITIES } from '../ruleset.js';
import { setTypeOf } from '../values.js';
import { operandAt } from './operands.js';
import { countsAt, limitAt, quotaAt, statefulAt, synproxyAt } from './statements.js';
import { Cursor, type Token, Unreadable } from './tokens.js';
import { integerAt, numberIn, timeAt } from './values.js';

/** Fields that may still be written. */
export type Draft<T> = { -readonly [Name in keyof T]: T[Name] };

/** A set whose type is not read yet. */
export type SetDraft = Draft<Omit<NewSet, 'key'>> & { key?: ValueTypes };

const FAMILIES: readonly TableFamily[] = ['ip', 'ip6', 'inet', 'arp', 'bridge', 'netdev'];

/** The table of a line `table inet filter`. Without a family, it is `ip`. */
export function tableAt(cursor: Cursor): Draft<NewTable> {
  cursor.expect('table');
  const first = cursor.word('the family of a table');
  if (cursor.isDone) return { family: 'ip', name: first.text };
  const family = FAMILIES.find((each) => each === first.text);
  if (family === undefined) throw new Unreadable(`must be one of ${FAMILIES.join(', ')}`, first);
  const table = { family, name: cursor.word('the name of a table').text };
  cursor.end();
  return table;
}

/** One of some words, at the cursor. */
function wordOf<Word extends string>(cursor: Cursor, words: readonly Word[], what: string): Word {
  const token = cursor.word(what);
  const found = words.find((each) => each === token.text);
  if (found === undefined) throw new Unreadable(`must be one of ${words.join(', ')}`, token);
  return found;
}

function flagsAt<Flag extends string>(cursor: Cursor, flags: readonly Flag[]): Flag[] {
  const found: Flag[] = [];
  do found.push(wordOf(cursor, flags, 'a flag'));
  while (cursor.accept(','));
  return found;
}

/** A statement that no block of this kind has. */
function unknown(cursor: Cursor, kind: string): Unreadable {
  return new Unreadable(`is no statement of a ${kind} that the library has`, cursor.token);
}

const TABLE_FLAGS: readonly Extract<TableFlag, string>[] = ['dormant', 'owner', 'persist'];

/** A statement of a table itself. */
export function readTableStatement(cursor: Cursor, table: Draft<NewTable>): void {
  if (cursor.accept('flags')) table.flags = flagsAt(cursor, TABLE_FLAGS);
  else if (cursor.accept('comment')) table.comment = cursor.quoted('a comment');
  else throw unknown(cursor, 'table');
  cursor.end();
}

/** A statement of a chain that is no rule; false if it is a rule. */
export function readChainStatement(cursor: Cursor, chain: Draft<NewChain>): boolean {
  if (cursor.is('type') && !chain.base) chain.base = baseAt(cursor, chain.family);
  else if (cursor.is('policy') && chain.base) chain.base = { ...chain.base, policy: policyAt(cursor) };
  else if (cursor.is('comment')) {
    cursor.expect('comment');
    chain.comment = cursor.quoted('a comment');
  } else return false;
  cursor.end();
  return true;
}

function policyAt(cursor: Cursor): 'accept' | 'drop' {
  cursor.expect('policy');
  return wordOf(cursor, ['accept', 'drop'], 'a policy');
}

const HOOKS: readonly Extract<Hook, string>[] = [
  ...(['prerouting', 'input', 'forward', 'output', 'postrouting', 'ingress', 'egress'] as const),
];

/** `type filter hook ingress device "eth0" priority filter` */
function baseAt(cursor: Cursor, family: TableFamily): BaseChain {
  cursor.expect('type');
  const type = wordOf(cursor, ['filter', 'nat', 'route'], 'a type');
  cursor.expect('hook');
  const hook = wordOf(cursor, HOOKS, 'a hook');
  const devices = cursor.accept('device') ? [cursor.take('the name of a link').text] : devicesAt(cursor);
  cursor.expect('priority');
  const priority = priorityAt(cursor, family);
  return { type, hook, priority, ...(devices.length > 0 && { devices }) };
}

/** `devices = { "eth0", "eth1" }`; none if there is no such word. */
function devicesAt(cursor: Cursor): string[] {
  const devices: string[] = [];
  if (!cursor.accept('devices')) return devices;
  cursor.expect('=');
  cursor.expect('{');
  do devices.push(cursor.take('the name of a link').text);
  while (cursor.accept(','));
  cursor.expect('}');
  return devices;
}

function priorityAt(cursor: Cursor, family: TableFamily): number {
  const token = cursor.word('a priority');
  const names = family === 'bridge' ? BRIDGE_PRIORITIES : PRIORITIES;
  const named = names.find(([name]) => name === token.text)?.[1];
  if (named === undefined) {
    const number = numberIn(token.text.replace(/^-/, ''));
    if (number === undefined)
      throw new Unreadable('must be an integer, or the name of a priority of the family', token);
    return Number(number) * (token.text.startsWith('-') ? -1 : 1);
  }
  if (cursor.accept('+')) return named + Number(integerAt(cursor, 'a number'));
  if (cursor.accept('-')) return named - Number(integerAt(cursor, 'a number'));
  return named;
}

const SET_FLAGS: readonly Extract<SetFlag, string>[] = ['constant', 'dynamic', 'interval', 'timeout'];

/** A statement of a set or map, without its elements. */
export function readSetStatement(cursor: Cursor, set: SetDraft, isMap: boolean): void {
  if (cursor.accept('type')) readTypes(cursor, set, isMap);
  else if (cursor.accept('typeof')) readTypeof(cursor, set, isMap);
  else if (cursor.accept('size'))
    set.size = Number(integerAt(cursor, 'a number of elements', 0xffff_ffff, 1n));
  else if (cursor.accept('flags')) set.flags = flagsAt(cursor, SET_FLAGS);
  else if (cursor.accept('auto-merge')) set.autoMerge = true;
  else if (cursor.accept('timeout')) set.timeout = timeAt(cursor);
  else if (cursor.accept('gc-interval')) set.gcInterval = Number(timeAt(cursor));
  else if (cursor.accept('policy')) set.policy = wordOf(cursor, ['performance', 'memory'], 'a policy');
  else if (cursor.accept('comment')) set.comment = cursor.quoted('a comment');
  else if (!readExpressions(cursor, set)) throw unknown(cursor, isMap ? 'map' : 'set');
  cursor.end();
}

/** What each element has: `counter quota 500 bytes`. */
function readExpressions(cursor: Cursor, set: SetDraft): boolean {
  const expressions: Expression[] = [];
  for (let found = statefulAt(cursor); found; found = statefulAt(cursor)) expressions.push(found);
  if (expressions.length > 0) set.expressions = [...(set.expressions ?? []), ...expressions];
  return expressions.length > 0;
}

/** Several types, or one. */
function whole(types: readonly ValueType[]): ValueTypes {
  return (types.length === 1 ? types[0] : types) as ValueTypes;
}

function readTypes(cursor: Cursor, set: SetDraft, isMap: boolean): void {
  set.key = typesAt(cursor);
  if (!isMap) return;
  cursor.expect(':');
  readData(cursor, set, () => {
    set.data = typesAt(cursor);
  });
}

/** What a map has behind its colon: objects, verdicts, or data. */
function readData(cursor: Cursor, set: SetDraft, types: () => void): void {
  const objects = objectTypeAt(cursor);
  if (objects !== undefined) set.objects = objects;
  else if (cursor.accept('verdict')) set.data = 'verdict';
  else {
    if (cursor.accept('interval')) set.dataIsInterval = true;
    types();
  }
}

function typesAt(cursor: Cursor): ValueTypes {
  const types: ValueType[] = [];
  do {
    const token = cursor.word('a type of values');
    if (!isValueType(token.text)) throw new Unreadable(`must be one of ${VALUE_TYPES.join(', ')}`, token);
    types.push(token.text);
  } while (cursor.accept('.'));
  return whole(types);
}

function readTypeof(cursor: Cursor, set: SetDraft, isMap: boolean): void {
  const keys = typeofAt(cursor);
  set.key = keys.types;
  set.keyExpressions = keys.expressions;
  if (!isMap) return;
  cursor.expect(':');
  readData(cursor, set, () => {
    const data = typeofAt(cursor);
    set.data = data.types;
    set.dataExpressions = data.expressions;
  });
}

/** The expressions of `typeof`, and the types of their values. */
function typeofAt(cursor: Cursor): { readonly types: ValueTypes; readonly expressions: KeyExpression[] } {
  const types: ValueType[] = [];
  const expressions: KeyExpression[] = [];
  do {
    const words: Token[] = [];
    while (!cursor.isDone && !cursor.is('.', ':')) words.push(cursor.word('an expression'));
    const first = words[0] ?? cursor.token;
    const text = words
      .map((word) => word.text)
      .join(' ')
      .replaceAll(' , ', ',');
    const name = /^(?:iif|oif|iifname|oifname)$/.test(text) ? `meta ${text}` : text;
    if (!isKeyExpression(name)) throw new Unreadable(KEY_EXPRESSION_RULE, first);
    const operand = operandAt(new Cursor(words), { network: undefined });
    const type = setTypeOf(operand);
    if (!type) throw new Unreadable('must be a value: the library has no set of such values', first);
    expressions.push(name);
    types.push(type);
  } while (cursor.accept('.'));
  return { types: whole(types), expressions };
}

/** The type of an object, or of the objects of a map, at the cursor. */
export function objectTypeAt(cursor: Cursor): ObjectType | undefined {
  const text = cursor.is('ct') ? `ct ${cursor.ahead(1)?.text}` : cursor.token.text;
  const type = OBJECTS.find((each) => each === text);
  if (type !== undefined) for (const _ of type.split(' ')) cursor.take('a type');
  return type;
}

const OBJECTS = Object.keys(OBJECT_TYPES) as ObjectType[];

/** A statement of an object. */
export function readObjectStatement(cursor: Cursor, object: Draft<NewObject>): void {
  if (cursor.accept('comment')) object.comment = cursor.quoted('a comment');
  else {
    const content = contentAt(cursor, object.type);
    if (!content) throw unknown(cursor, object.type);
    // Lines of a synproxy have some fields each.
    Object.assign(object, content);
  }
  cursor.end();
}

/** What a line of an object says; undefined if no object of the type has it. */
function contentAt(cursor: Cursor, type: ObjectType): object | undefined {
  switch (type) {
    case 'counter':
      return cursor.is('packets') ? countsAt(cursor) : undefined;
    case 'quota':
      return quotaAt(cursor);
    case 'limit':
      return limitAt(cursor);
    case 'secmark':
      return { context: cursor.quoted('a context') };
    case 'synproxy':
      return cursor.is('mss', 'wscale', 'timestamp', 'sack-perm') ? synproxyAt(cursor) : undefined;
    default:
      return connectionsAt(cursor, type);
  }
}

const NETWORKS = ['ip', 'ip6', 'inet'] as const;
const PROTOCOLS = ['tcp', 'udp'] as const;

/** The same of objects for connections. */
function connectionsAt(cursor: Cursor, type: ObjectType): object | undefined {
  if (cursor.accept('l3proto')) return { network: wordOf(cursor, NETWORKS, 'a protocol') };
  if (cursor.accept('protocol')) return { protocol: wordOf(cursor, PROTOCOLS, 'a protocol') };
  if (type === 'ct helper' && cursor.accept('type')) {
    const helper = cursor.quoted('the name of a helper');
    cursor.expect('protocol');
    return { helper, protocol: wordOf(cursor, PROTOCOLS, 'a protocol') };
  }
  if (type === 'ct timeout' && cursor.accept('policy')) return { policy: policyTimesAt(cursor) };
  if (type !== 'ct expectation') return undefined;
  if (cursor.accept('dport')) return { port: Number(integerAt(cursor, 'a port', 0xffff)) };
  if (cursor.accept('timeout')) return { timeout: Number(timeAt(cursor)) };
  return cursor.accept('size') ? { size: Number(integerAt(cursor, 'a number', 0xff)) } : undefined;
}

/** `= { established : 3s, close : 1s }`, in s. */
function policyTimesAt(cursor: Cursor): Record<string, number> {
  const times: Record<string, number> = {};
  cursor.expect('=');
  cursor.expect('{');
  do {
    const name = cursor.word('a state').text;
    cursor.expect(':');
    times[name] = Number(timeAt(cursor, 1000n) / 1000n);
  } while (cursor.accept(','));
  cursor.expect('}');
  return times;
}

const FLOW_TABLE_FLAGS: readonly Extract<FlowTableFlag, string>[] = ['offload', 'counter'];

/** A statement of a flow table. */
export function readFlowTableStatement(cursor: Cursor, flowTable: Draft<NewFlowTable>): void {
  if (cursor.accept('hook')) {
    cursor.expect('ingress');
    cursor.expect('priority');
    flowTable.priority = priorityAt(cursor, 'netdev');
  } else if (cursor.is('devices')) flowTable.devices = devicesAt(cursor);
  else if (cursor.accept('flags')) addFlags(flowTable, flagsAt(cursor, FLOW_TABLE_FLAGS));
  else if (cursor.accept('counter')) addFlags(flowTable, ['counter']);
  else throw unknown(cursor, 'flow table');
  cursor.end();
}

function addFlags(flowTable: Draft<NewFlowTable>, flags: readonly FlowTableFlag[]): void {
  flowTable.flags = [...(flowTable.flags ?? []), ...flags];
}
