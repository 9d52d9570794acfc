// A rule in the notation of nft → its expressions, with the registers that nft gives them, and with the comparisons that nft leaves out
// because a later statement implies them.
import type { Steps } from '../../../../steps.js';
import type {
  Expression,
  NewElement,
  ObjectType,
  SetShape,
  TableFamily,
  ValueType,
  ValueTypes,
} from '../../types.js';
import { isValueType, layoutOf } from '../../values/valueTypes.js';
import {
  conditionOf,
  ipOf,
  isMet,
  type Known,
  knownOf,
  learned,
  learnedOfSet,
  type Need,
  PROTOCOL_KEYS,
} from '../known.js';
import { isBitmask, type LoadedType, setTypeOf } from '../values.js';
import { type AnonymousContent, anonymousAt } from './anonymous.js';
import { ctTarget, targetOf } from './assignment.js';
import { boundsOf, COMPARISONS, comparisonAt } from './comparison.js';
import { verdictAt } from './elements.js';
import { natAt } from './nat.js';
import {
  checkRoom,
  constant,
  inFront,
  inNetworkOrder,
  Loading,
  loadParts,
  type Operand,
  registerOf,
} from './operand.js';
import { ctKeyAt, isOperand, operandAt } from './operands.js';
import type { RuleReading } from './reading.js';
import { objectTypeAt, plainStatementAt, statefulAt } from './statements.js';
import { type Cursor, type Token, Unreadable } from './tokens.js';
import { bytesOfToken, bytesOfValue, flagsAt, isNumber, timeAt, valueIn } from './values.js';

/** What a rule refers to. */
export interface RuleSurroundings {
  readonly family: TableFamily;
  /** What the elements of a set of the table are; undefined if there is no such set. */
  readonly shapeOf: (name: string) => SetShape | undefined;
  /** Indexes of links by their names. */
  readonly links: ReadonlyMap<string, number>;
}

/** A rule that was read. */
export interface ReadRule {
  readonly expressions: readonly Expression[];
  readonly comment?: string;
}

/** Reads a rule up to the end of its statement. */
export function readRuleAt(cursor: Cursor, surroundings: RuleSurroundings): Steps<ReadRule> {
  return new RuleParser(cursor, surroundings).read();
}

/** Statements after which a packet does not come to the next one. */
const ENDS: ReadonlySet<Expression['kind']> = new Set(['nat', 'masq', 'redir', 'reject', 'queue']);

/** Types whose numbers have no meaning of their own. */
const FREE: ReadonlySet<ValueType> = new Set(['mark', 'integer']);
const OPERATORS = {
  '&': (a: number, b: number) => a & b,
  '^': (a: number, b: number) => a ^ b,
  '|': (a: number, b: number) => a | b,
} as const;

type LookedUp = Extract<Expression, { kind: 'lookup' }>['set'];

/** Reads one rule. */
class RuleParser implements RuleReading {
  readonly cursor: Cursor;
  readonly #surroundings: RuleSurroundings;
  readonly #expressions: Expression[] = [];
  #known: Known;
  #hasTransport = false;

  constructor(cursor: Cursor, surroundings: RuleSurroundings) {
    this.cursor = cursor;
    this.#surroundings = surroundings;
    this.#known = knownOf(surroundings.family);
  }

  /** The family of the table. */
  get family(): TableFamily {
    return this.#surroundings.family;
  }

  /** Indexes of links by their names. */
  get links(): ReadonlyMap<string, number> {
    return this.#surroundings.links;
  }

  /** The protocol of the network layer, where it is known. */
  get network(): 'ip' | 'ip6' | undefined {
    return ipOf(this.#known);
  }

  /** All statements, and the comment at the end. */
  *read(): Steps<ReadRule> {
    const { cursor } = this;
    while (!cursor.isDone) {
      const last = this.#expressions.at(-1);
      const isEnd =
        last && (last.kind === 'verdict' ? last.verdict.verdict !== 'continue' : ENDS.has(last.kind));
      if (isEnd && !cursor.is('comment'))
        throw new Unreadable('must be the end of the rule, behind a verdict or what is one', cursor.token);
      if (cursor.accept('comment')) {
        const comment = cursor.quoted('a comment');
        cursor.end();
        return { expressions: this.#expressions, comment };
      }
      yield* this.#statement();
    }
    return { expressions: this.#expressions };
  }

  /** See {@link RuleReading}. */
  add(...expressions: readonly Expression[]): void {
    for (const expression of expressions) this.#expressions.push(expression);
  }

  *#statement(): Steps<void> {
    const { cursor } = this;
    const start = cursor.token;
    const verdict = verdictAt(cursor);
    if (verdict) {
      this.add({ kind: 'verdict', verdict });
      return;
    }
    const objects = objectTypeAt(cursor);
    if (objects) {
      yield* this.#object(objects);
      return;
    }
    const plain = plainStatementAt(cursor, this.network);
    if (plain) {
      this.demand(plain.needs ?? [], start);
      this.add(plain.expression);
      return;
    }
    if (cursor.is('add', 'update', 'delete')) yield* this.#dynset();
    else if (cursor.is('ct') && isCtAssignment(cursor)) yield* this.#ctSet();
    else if (!(yield* natAt(this))) yield* this.#match();
  }

  /** The name of an object, or a map of them. */
  *#object(type: ObjectType): Steps<void> {
    const { cursor } = this;
    if (cursor.token.isQuoted || !isOperand(cursor.token)) {
      this.add({ kind: 'objref', type, name: cursor.take('the name of an object').text });
      return;
    }
    const parts = this.keyAt();
    cursor.expect('map');
    const { set, shape } = yield* this.#setAt(parts, { data: undefined, objects: type });
    const key = shape.flags?.includes('interval') ? parts.map(inNetworkOrder) : parts;
    this.add(...loadParts(key, 0), { kind: 'objrefMap', set, source: registerOf(0) });
  }

  /** Adds the conditions that a packet must pass to be so. */
  demand(needs: readonly Need[], token: Token): void {
    for (const need of needs) {
      if (this.#known.network === 'arp' && need.layer === 'transport')
        throw new Unreadable('must be of packets of arp', token);
      if (need.layer === 'transport') this.#hasTransport = true;
      const met = isMet(need, this.#known);
      if (met === false) throw new Unreadable(this.#contradiction(need), token);
      if (met) continue;
      const condition = conditionOf(need, this.family, this.#known);
      if (!condition) throw new Unreadable(`must be of packets of ${this.family}`, token);
      this.add(...condition);
      this.#known = { ...this.#known, [need.layer]: knownBy(need) };
    }
  }

  /** See {@link RuleReading}. */
  demandPorts(token: Token): void {
    if (!this.#hasTransport)
      throw new Unreadable('must be behind a condition of the protocol: `meta l4proto tcp`', token);
  }

  /** Notes that a value is compared: of the protocol, one is enough for ports. */
  #noteTransport({ text, isMasked }: Operand): void {
    if (PROTOCOL_KEYS.has(text) && !isMasked) this.#hasTransport = true;
  }

  #contradiction({ layer }: Need): string {
    const { network, transport } = this.#known;
    if (network === 'several' || transport === 'several')
      return 'must be of packets of one protocol: the rule says that there may be several';
    if (layer === 'network') return `must be of packets of ${network}`;
    if (layer === 'vlan')
      return 'must be of frames with one tag: others have such a field elsewhere, or none';
    return layer === 'transport'
      ? `must be of packets of protocol ${transport}`
      : 'must be of messages of another type: this one has no such field';
  }

  /** Reads operands that are one key: `ip daddr . tcp dport`. */
  keyAt(): Operand[] {
    const { cursor } = this;
    const parts: Operand[] = [];
    do {
      const { token } = cursor;
      const part = operandAt(cursor, { network: this.network });
      this.demand(part.needs, token);
      if (parts.length > 0 || cursor.is('.', 'map', 'vmap', '{', '!=')) checkPlainAddress(part, token);
      if (part.text === 'ct proto-src' || part.text === 'ct proto-dst') this.demandPorts(token);
      if (part.meta === 'nfproto' && this.family !== 'inet')
        throw new Unreadable('must be of the family inet: others have packets of one protocol', token);
      parts.push(part);
      checkRoom(parts, 0, token);
    } while (cursor.accept('.'));
    return parts;
  }

  /** A comparison, a look-up, or an assignment: all begin with an operand. */
  *#match(): Steps<void> {
    const { cursor } = this;
    const start = cursor.token;
    const parts = this.keyAt();
    if (parts.length === 1 && cursor.accept('set')) {
      const target = targetOf(parts[0] as Operand, start);
      if (target.around) {
        this.add(...target.around(this.#part(parts[0] as Operand)), target.expression(registerOf(0)));
        return;
      }
      this.add(...(yield* this.#assigned(target)).load(0), target.expression(registerOf(0)));
      return;
    }
    if (cursor.accept('vmap')) {
      this.add(...(yield* this.#lookup(parts, 'verdict')).load(0));
      return;
    }
    const sign = cursor.sign('!', ...Object.keys(COMPARISONS));
    if (parts.length === 1 && sign !== '!=') this.#noteTransport(parts[0] as Operand);
    const { token } = cursor;
    if (!token.isQuoted && (token.text === '{' || token.text.startsWith('@'))) {
      if (sign !== undefined && sign !== '!=' && sign !== '==')
        throw new Unreadable('must be a value: with sets, only `!=` is compared', token);
      const { load, shape } = yield* this.#lookup(parts, undefined, sign === '!=');
      this.add(...load(0));
      const [{ text, isMasked }] = parts as [Operand];
      if (sign !== '!=' && parts.length === 1 && !isMasked && 'elements' in shape)
        this.#known = learnedOfSet(this.#known, text, shape.elements as readonly NewElement[]);
      return;
    }
    if (parts.length > 1) throw new Unreadable('must be a set: several values are one key', token);
    const operand = parts[0] as Operand;
    const { expressions, equal } = comparisonAt(cursor, operand, sign, this.links);
    this.add(...expressions);
    if (equal) this.#known = learned(this.#known, this.family, operand.text, equal);
  }

  /**
   * Reads a set, and looks a key up in it.
   *
   * @param data what a map has, if it is one of the rule; undefined of a set
   */
  *#lookup(
    parts: readonly Operand[],
    data: ValueTypes | 'verdict' | undefined,
    invert = false,
    isInterval = false,
  ): Steps<{ readonly load: (word: number) => Expression[]; readonly shape: SetShape }> {
    const { set, shape } = yield* this.#setAt(parts, {
      data,
      ...(isInterval && { dataIsInterval: isInterval }),
    });
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

  /** A set of the table, `@name`, or one of the rule: `{ 80, 443 }`. */
  *#setAt(
    parts: readonly Operand[],
    content: AnonymousContent,
  ): Steps<{ readonly set: LookedUp; readonly shape: SetShape }> {
    const { cursor } = this;
    const { token } = cursor;
    if (!cursor.is('{')) {
      const shape = this.#shapeAt(cursor.word('a set'));
      const kind = kindOf(content);
      // Whether a map has a key can be asked, too.
      if (kind !== 'set' && kindOf(shape) !== kind) throw new Unreadable(`must be a ${kind}`, token);
      checkKey(parts, shape, token);
      return { set: token.text.slice(1), shape };
    }
    const set = yield* anonymousAt(cursor, parts, content, this.links);
    return { set, shape: set };
  }

  /** What the elements of a set of the table are, by its reference: `@name`. */
  #shapeAt(token: Token): SetShape {
    const isName = token.text.startsWith('@');
    const shape = isName ? this.#surroundings.shapeOf(token.text.slice(1)) : undefined;
    if (!shape) throw new Unreadable('must be a set that the table has before its chains: `@name`', token);
    return shape;
  }

  /** The data of a map, as an operand. `data`, and whether they are intervals, is what a map of the rule has. */
  *mapAt(parts: readonly Operand[], data: ValueTypes, isInterval = false): Steps<Operand> {
    this.cursor.expect('map');
    const { load, shape } = yield* this.#lookup(parts, data, false, isInterval);
    const types = shape.data === undefined || shape.data === 'verdict' ? data : shape.data;
    const type = typeof types === 'string' ? types : 'integer';
    return {
      ...{ text: 'map', type, types, length: layoutOf(types).length, isNetwork: false, needs: [], load },
      ...(shape.dataIsInterval && { hasEnds: true }),
    };
  }

  /** Reads what is assigned: a value of the type, or an operand. */
  *#assigned(target: Pick<Operand, 'type' | 'length' | 'isNetwork'>): Steps<Operand> {
    const { cursor } = this;
    const { token } = cursor;
    const { type } = target;
    const isValue = isValueType(type) && valueIn(type, token.text) !== undefined;
    if (isValue || !isOperand(token)) return constant(this.#constant(target), type);
    const parts = this.keyAt();
    if (cursor.is('map')) {
      const map = yield* this.mapAt(parts, keyType(type, token));
      if (map.types !== type || map.hasEnds)
        throw new Unreadable(`must be of a map with data of ${type}`, token);
      return map;
    }
    if (parts.length > 1) throw new Unreadable('must be `map`', cursor.token);
    const operand = inFront(parts[0] as Operand);
    // Of a byte, the rest of the register is zero.
    if (parts[0]?.bits && operand.length === 1 && type === 'mark') return operand;
    if (operand.length !== target.length)
      throw new Unreadable(`must be a value of ${target.length} bytes`, token);
    if (isNumber(type) && operand.type === 'integer') return inNetworkOrder(operand);
    if (operand.type !== type && operand.type !== 'integer')
      throw new Unreadable(`must be a value of ${type}, and is one of ${operand.type}`, token);
    return operand;
  }

  /** The value of a field that is a part of what is written. */
  #part(operand: Operand): Uint8Array {
    const { cursor, links } = this;
    if (isBitmask(operand.type)) return bytesOfValue(operand.type, flagsAt(cursor, operand.type, true), true);
    const { token } = cursor;
    const { first, last } = boundsOf(operand, cursor.take('a value'), links);
    if (last) throw new Unreadable('must be one value', token);
    return first(operand);
  }

  /** A value that is assigned: flags have several names, and other numbers operators of bits. */
  #constant(target: Pick<Operand, 'type' | 'length' | 'isNetwork'>): Uint8Array {
    const { cursor } = this;
    if (isBitmask(target.type))
      return bytesOfValue(target.type, flagsAt(cursor, target.type, true), target.isNetwork);
    let bytes = bytesOfToken(target, cursor.take('a value'));
    const { token } = cursor;
    for (let sign = cursor.sign('&', '^', '|'); sign; sign = cursor.sign('&', '^', '|')) {
      if (!isValueType(target.type) || !FREE.has(target.type))
        throw new Unreadable('must be behind a number', token);
      const other = bytesOfToken(target, cursor.take('a value'));
      const by = OPERATORS[sign as keyof typeof OPERATORS];
      bytes = bytes.map((byte, i) => by(byte, other[i] as number));
      if (cursor.is('&', '^', '|')) throw new Unreadable('must be one operator', cursor.token);
    }
    return bytes;
  }

  /** `ct mark set meta mark`, `ct original zone set 2` */
  *#ctSet(): Steps<void> {
    const { cursor } = this;
    cursor.expect('ct');
    const target = ctTarget(ctKeyAt(cursor, { network: this.network }));
    cursor.expect('set');
    this.add(...(yield* this.#assigned(target)).load(0), target.expression(registerOf(0)));
  }

  /** `update @recent { ip saddr timeout 5s }` */
  *#dynset(): Steps<void> {
    const { cursor } = this;
    const operation = cursor.take('an operation').text as 'add' | 'update' | 'delete';
    const name = cursor.word('a set');
    const shape = this.#shapeAt(name);
    cursor.expect('{');
    const { token } = cursor;
    const parts = this.keyAt();
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
      value.push(yield* this.#assigned(target));
    }
    cursor.expect('}');
    // The conditions of all values are before their loading: they take registers, too.
    const loading = new Loading(name);
    const whole = parts.map(inFront);
    const source = loading.load(...(shape.flags?.includes('interval') ? whole.map(inNetworkOrder) : whole));
    const [dataSource] = value.map((each) => loading.load(each));
    this.add(...loading.expressions, {
      ...{ kind: 'dynset', operation, set: name.text.slice(1), source },
      ...(dataSource !== undefined && { dataSource }),
      ...(timeout !== undefined && { timeout }),
      ...(nested.length > 0 && { expressions: nested }),
    });
  }
}

/** What is known of a packet that is so. */
function knownBy(need: Need): string | number | readonly number[] | true {
  if (need.layer === 'message') return need.types;
  return need.layer === 'network' ? need.network : need.layer === 'transport' ? need.protocol : true;
}

/** What a set is, by what its elements have. */
function kindOf({ data, objects }: AnonymousContent): string {
  if (objects !== undefined) return `map of objects of type ${objects}`;
  return data === undefined ? 'set' : data === 'verdict' ? 'verdict map' : 'map';
}

/** Demands that values have the types of the keys of a set: others would be looked up in vain. */
function checkKey(parts: readonly Operand[], { key }: SetShape, token: Token): void {
  const types = typeof key === 'string' ? [key] : key;
  const isSame = (type: ValueType, i: number) => parts[i] && setTypeOf(parts[i]) === type;
  if (parts.length !== types.length || !types.every(isSame))
    throw new Unreadable(`must be a set of ${parts.map(({ type }) => type).join(' . ')}`, token);
}

/** Demands that an address of a connection has its family: of one without, the kernel does not know which one it has in a set. */
function checkPlainAddress({ text }: Operand, token: Token): void {
  if (text === 'ct saddr' || text === 'ct daddr')
    throw new Unreadable('must have the family of the address before it: `ct original ip saddr`', token);
}

/** Whether `ct` at the cursor begins an assignment: `ct mark set`, `ct original zone set`. */
function isCtAssignment(cursor: Cursor): boolean {
  const hasDirection = ['original', 'reply'].includes(cursor.ahead(1)?.text ?? '');
  return cursor.ahead(hasDirection ? 3 : 2)?.text === 'set';
}

function keyType(type: LoadedType, token: Token): ValueType {
  if (isValueType(type)) return type;
  throw new Unreadable('must be a value: the library has no set of such values', token);
}
