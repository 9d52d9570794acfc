// Keys, and the sets and maps in which a rule looks them up.
import type { Steps } from '../../../steps.js';
import type { Expression, SetShape, ValueType, ValueTypes } from '../../types.js';
import { layoutOf } from '../../values/valueTypes.js';
import { setTypeOf } from '../values.js';
import { type AnonymousContent, anonymousAt } from './anonymous.js';
import { checkRoom, inFront, inNetworkOrder, loadParts, type Operand, registerOf } from './operand.js';
import { operandAt } from './operands.js';
import type { RuleReading } from './reading.js';
import { type Token, Unreadable } from './tokens.js';

/** Reads operands that are one key: `ip daddr . tcp dport`. */
export function keyAt(rule: RuleReading): Operand[] {
  const { cursor } = rule;
  const parts: Operand[] = [];
  do {
    const { token } = cursor;
    const part = operandAt(cursor, rule);
    rule.demand(part.needs, token);
    if (parts.length > 0 || cursor.is('.', 'map', 'vmap', '{', '!=')) checkPlainAddress(part, token);
    if (part.text === 'ct proto-src' || part.text === 'ct proto-dst') rule.demandPorts(token);
    if (part.meta === 'nfproto' && rule.family !== 'inet')
      throw new Unreadable('must be of the family inet: others have packets of one protocol', token);
    parts.push(part);
    checkRoom(parts, 0, token);
  } while (cursor.accept('.'));
  return parts;
}

/** Demands that an address of a connection has its family: of one without, the kernel does not know which one it has in a set. */
function checkPlainAddress({ text }: Operand, token: Token): void {
  if (text === 'ct saddr' || text === 'ct daddr')
    throw new Unreadable('must have the family of the address before it: `ct original ip saddr`', token);
}

/** Reads a set, and looks a key up in it. `content` is what a set of the rule has. */
export function* lookUp(
  rule: RuleReading,
  parts: readonly Operand[],
  content: AnonymousContent,
  invert = false,
): Steps<{ readonly load: (word: number) => Expression[]; readonly shape: SetShape }> {
  const { set, shape } = yield* setAt(rule, parts, content);
  const { data } = content;
  const whole = 'elements' in shape ? parts : parts.map(inFront);
  const key = shape.flags?.includes('interval') ? whole.map(inNetworkOrder) : whole;
  const load = (word: number): Expression[] => [
    ...loadParts(key, word),
    {
      ...{ kind: 'lookup', set, source: registerOf(word) },
      ...(data !== undefined && { register: data === 'verdict' ? 0 : registerOf(word) }),
      ...(invert && { invert }),
    },
  ];
  return { load, shape };
}

/** The data of a map, as an operand. `data`, and whether they are intervals, is what a map of the rule has. */
export function* mapAt(
  rule: RuleReading,
  parts: readonly Operand[],
  data: ValueTypes,
  isInterval = false,
): Steps<Operand> {
  rule.cursor.expect('map');
  const { load, shape } = yield* lookUp(rule, parts, { data, ...(isInterval && { dataIsInterval: true }) });
  const types = shape.data === undefined || shape.data === 'verdict' ? data : shape.data;
  const type = typeof types === 'string' ? types : 'integer';
  return {
    ...{ text: 'map', type, types, length: layoutOf(types).length, isNetwork: false, needs: [], load },
    ...(shape.dataIsInterval && { hasEnds: true }),
  };
}

/** A set of the table, `@name`, or one of the rule: `{ 80, 443 }`. */
export function* setAt(
  rule: RuleReading,
  parts: readonly Operand[],
  content: AnonymousContent,
): Steps<{ readonly set: Extract<Expression, { kind: 'lookup' }>['set']; readonly shape: SetShape }> {
  const { cursor } = rule;
  const { token } = cursor;
  if (!cursor.is('{')) {
    const shape = shapeAt(rule, cursor.word('a set'));
    const kind = kindOf(content);
    // Whether a map has a key can be asked, too.
    if (kind !== 'set' && kindOf(shape) !== kind) throw new Unreadable(`must be a ${kind}`, token);
    checkKey(parts, shape, token);
    return { set: token.text.slice(1), shape };
  }
  const set = yield* anonymousAt(cursor, parts, content, rule.links);
  return { set, shape: set };
}

/** What the elements of a set of the table are, by its reference: `@name`. */
export function shapeAt(rule: RuleReading, token: Token): SetShape {
  const isName = token.text.startsWith('@');
  const shape = isName ? rule.shapeOf(token.text.slice(1)) : undefined;
  if (!shape) throw new Unreadable('must be a set that the table has before its chains: `@name`', token);
  return shape;
}

/** What a set is, by what its elements have. */
function kindOf({ data, objects }: AnonymousContent): string {
  if (objects !== undefined) return `map of objects of type ${objects}`;
  return data === undefined ? 'set' : data === 'verdict' ? 'verdict map' : 'map';
}

/** Demands that values have the types of the keys of a set: others would be looked up in vain. */
export function checkKey(parts: readonly Operand[], { key }: SetShape, token: Token): void {
  const types = typeof key === 'string' ? [key] : key;
  const isSame = (type: ValueType, i: number) => parts[i] && setTypeOf(parts[i]) === type;
  if (parts.length !== types.length || !types.every(isSame))
    throw new Unreadable(`must be a set of ${parts.map(({ type }) => type).join(' . ')}`, token);
}
