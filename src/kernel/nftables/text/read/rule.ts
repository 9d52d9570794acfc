// A rule in the notation of nft → its expressions, with the registers that nft gives them, and with the comparisons that nft leaves out
// because a later statement implies them.
import type { Steps } from '../../../steps.js';
import type { Expression, NewElement, ObjectType } from '../../types.js';
import { layoutOf } from '../../values/valueTypes.js';
import { assign, assignedAt, ctAssignmentAt } from './assignment.js';
import { COMPARISONS, comparisonAt } from './comparison.js';
import { verdictAt } from './elements.js';
import { checkKey, keyAt, lookUp, setAt, shapeAt } from './lookup.js';
import { natAt } from './nat.js';
import { inFront, inNetworkOrder, Loading, loadParts, type Operand, registerOf } from './operand.js';
import { isOperand } from './operands.js';
import { RuleReading, type RuleSurroundings } from './reading.js';
import { objectTypeAt, plainStatementAt, statefulAt } from './statements.js';
import { type Cursor, Unreadable } from './tokens.js';
import { timeAt } from './values.js';

/** A rule that was read. */
interface ReadRule {
  readonly expressions: readonly Expression[];
  readonly comment?: string;
}

/** Statements after which a packet does not come to the next one. */
const ENDS: ReadonlySet<Expression['kind']> = new Set(['nat', 'masq', 'redir', 'reject', 'queue']);

/** Reads a rule up to the end of its statement: all statements, and the comment at the end. */
export function* readRuleAt(cursor: Cursor, surroundings: RuleSurroundings): Steps<ReadRule> {
  const rule = new RuleReading(cursor, surroundings);
  const comment = yield* readStatements(rule);
  return { expressions: rule.expressions, ...(comment !== undefined && { comment }) };
}

/** Reads the statements of a rule, or of a part of it; returns the comment behind them, if there is one. */
export function* readStatements(rule: RuleReading): Steps<string | undefined> {
  const { cursor, expressions } = rule;
  while (!cursor.isDone) {
    const last = expressions.at(-1);
    const isEnd =
      last && (last.kind === 'verdict' ? last.verdict.verdict !== 'continue' : ENDS.has(last.kind));
    if (isEnd && !cursor.is('comment'))
      throw new Unreadable('must be the end of the rule, behind a verdict or what is one', cursor.token);
    if (cursor.accept('comment')) {
      const comment = cursor.quoted('a comment');
      cursor.end();
      return comment;
    }
    yield* statement(rule);
  }
  return undefined;
}

function* statement(rule: RuleReading): Steps<void> {
  const { cursor } = rule;
  const start = cursor.token;
  const verdict = verdictAt(cursor);
  if (verdict) {
    rule.add({ kind: 'verdict', verdict });
    return;
  }
  const objects = objectTypeAt(cursor);
  if (objects) {
    yield* object(rule, objects);
    return;
  }
  const plain = plainStatementAt(cursor, rule.network);
  if (plain) {
    rule.demand(plain.needs ?? [], start);
    rule.add(plain.expression);
    return;
  }
  if (cursor.is('add', 'update', 'delete')) yield* dynset(rule);
  else if (!(yield* ctAssignmentAt(rule)) && !(yield* natAt(rule))) yield* match(rule);
}

/** The name of an object, or a map of them. */
function* object(rule: RuleReading, type: ObjectType): Steps<void> {
  const { cursor } = rule;
  if (cursor.token.isQuoted || !isOperand(cursor.token)) {
    rule.add({ kind: 'objref', type, name: cursor.take('the name of an object').text });
    return;
  }
  const parts = keyAt(rule);
  cursor.expect('map');
  const { set, shape } = yield* setAt(rule, parts, { objects: type });
  const key = shape.flags?.includes('interval') ? parts.map(inNetworkOrder) : parts;
  rule.add(...loadParts(key, 0), { kind: 'objrefMap', set, source: registerOf(0) });
}

/** A comparison, a look-up, or an assignment: all begin with an operand. */
function* match(rule: RuleReading): Steps<void> {
  const { cursor } = rule;
  const start = cursor.token;
  const parts = keyAt(rule);
  if (parts.length === 1 && cursor.accept('set')) {
    yield* assign(rule, parts[0] as Operand, start);
    return;
  }
  if (cursor.accept('vmap')) {
    rule.add(...(yield* lookUp(rule, parts, { data: 'verdict' })).load(0));
    return;
  }
  const sign = cursor.sign('!', ...Object.keys(COMPARISONS));
  if (parts.length === 1 && sign !== '!=') rule.noteTransport(parts[0] as Operand);
  const { token } = cursor;
  if (!token.isQuoted && (token.text === '{' || token.text.startsWith('@'))) {
    if (sign !== undefined && sign !== '!=' && sign !== '==')
      throw new Unreadable('must be a value: with sets, only `!=` is compared', token);
    const { load, shape } = yield* lookUp(rule, parts, {}, sign === '!=');
    rule.add(...load(0));
    const [{ text, isMasked }] = parts as [Operand];
    if (sign !== '!=' && parts.length === 1 && !isMasked && 'elements' in shape)
      rule.learnOfSet(text, shape.elements as readonly NewElement[]);
    return;
  }
  if (parts.length > 1) throw new Unreadable('must be a set: several values are one key', token);
  const operand = parts[0] as Operand;
  const { expressions, equal } = comparisonAt(cursor, operand, sign, rule.links);
  rule.add(...expressions);
  if (equal) rule.learn(operand.text, equal);
}

/** `update @recent { ip saddr timeout 5s }` */
function* dynset(rule: RuleReading): Steps<void> {
  const { cursor } = rule;
  const operation = cursor.take('an operation').text as 'add' | 'update' | 'delete';
  const name = cursor.word('a set');
  const shape = shapeAt(rule, name);
  cursor.expect('{');
  const { token } = cursor;
  const parts = keyAt(rule);
  checkKey(parts, shape, token);
  const timeout = cursor.accept('timeout') ? timeAt(cursor) : undefined;
  const nested: Expression[] = [];
  for (let next = statefulAt(cursor); next; next = statefulAt(cursor)) nested.push(next);
  const value: Operand[] = [];
  if (cursor.accept(':')) {
    const { data } = shape;
    if (typeof data !== 'string' || data === 'verdict')
      throw new Unreadable('must be a map with data of one type', name);
    const target = { type: data, length: layoutOf(data).length, isNetwork: false };
    value.push(yield* assignedAt(rule, target));
  }
  cursor.expect('}');
  // The conditions of all values are before their loading: they take registers, too.
  const loading = new Loading(name);
  const whole = parts.map(inFront);
  const source = loading.load(...(shape.flags?.includes('interval') ? whole.map(inNetworkOrder) : whole));
  const [dataSource] = value.map((each) => loading.load(each));
  rule.add(...loading.expressions, {
    ...{ kind: 'dynset', operation, set: name.text.slice(1), source },
    ...(dataSource !== undefined && { dataSource }),
    ...(timeout !== undefined && { timeout }),
    ...(nested.length > 0 && { expressions: nested }),
  });
}
