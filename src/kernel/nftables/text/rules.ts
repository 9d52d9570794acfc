// Rules as nft lists them, from their expressions.
import { atOnce } from '../../../steps.js';
import type { Element, Expression, Rule, ValueType, ValueTypes } from '../types.js';
import { layoutOf } from '../values/valueTypes.js';
import { Conditions } from './conditions.js';
import { extensionAt, extensionBitsAt, extensionText, needsOfExtension } from './extensions.js';
import {
  bitsAt,
  bytesAround,
  CT_FIELDS,
  checksumOf,
  fieldAround,
  fieldAt,
  fieldNamed,
  IN_NETWORK_ORDER,
  lengthOf,
  META_NAMES,
  META_TYPES,
} from './fields.js';
import { ipOf, type Need } from './known.js';
import { contentOf, fib, flagsOf, meta, route, socket, value } from './loaded.js';
import {
  comparisonText,
  isOrdered,
  type Loaded,
  numberOf,
  operandText,
  Registers,
  rangeText,
  shownText,
  textOf,
  wordOf,
} from './registers.js';
import { anonymousText, type SetContent, verdictText } from './sets.js';
import { objectStatement, plainStatement, statelessText } from './statements.js';
import { dataText, isPlainKey, type LoadedType, nameText, quoted, setTypeOf, timeText } from './values.js';

/** What rules refer to. */
export interface Surroundings {
  /** Finds a set of the table of the rule. */
  readonly find: (name: string) => SetContent | undefined;
  /** Names of links by their indexes. */
  readonly links: ReadonlyMap<number, string>;
  /** Texts of sets of the rule that are written already, by their elements. Others are written with the rule, at once. */
  readonly written?: ReadonlyMap<readonly Element[], string>;
}

/** `IPPROTO_TCP` */
const TCP = 6;

type Of<Kind extends Expression['kind']> = Extract<Expression, { kind: Kind }>;

/** The text of a rule without its comment. What has no notation here is in brackets: `[xt match]`. */
export function ruleText(rule: Pick<Rule, 'family' | 'expressions'>, surroundings: Surroundings): string {
  return new RuleReader(rule.family, surroundings).read(rule.expressions).join(' ');
}

/** Expressions that only compare: of those between two of them, the order means nothing. */
const CONDITIONS: ReadonlySet<Expression['kind']> = new Set(['cmp', 'range', 'lookup']);
/** Statements after which an earlier value may be another one. */
const UNCHANGING: ReadonlySet<Expression['kind']> = new Set([
  ...([
    ...CONDITIONS,
    'counter',
    'limit',
    'quota',
    'log',
    'objref',
    'objrefMap',
    'connlimit',
    'verdict',
    'reject',
  ] as const),
]);

class RuleReader {
  readonly #family: Rule['family'];
  readonly #find: Surroundings['find'];
  readonly #links: Surroundings['links'];
  readonly #written: Surroundings['written'];
  readonly #registers = new Registers();
  readonly #conditions: Conditions;
  #statements: (string | undefined)[] = [];

  constructor(family: Rule['family'], { find, links, written }: Surroundings) {
    this.#family = family;
    this.#find = find;
    this.#links = links;
    this.#written = written;
    this.#conditions = new Conditions(family);
  }

  /** The protocol of the network layer, if it is known. */
  get #network(): 'ip' | 'ip6' | undefined {
    return ipOf(this.#conditions.known);
  }

  /** The statements. */
  read(expressions: readonly Expression[]): string[] {
    for (let i = 0; i < expressions.length; i++) {
      const expression = expressions[i] as Expression;
      if (this.#isInterval(expression, expressions[i + 1])) {
        const [from, to] = [expression, expressions[++i] as Of<'cmp'>];
        this.#add(rangeText(this.#source(from.source), true, from.data, to.data));
      } else this.#one(expression);
    }
    // A loading may end the rule, as a comparison does: of packets that are too short, there is no value.
    for (const { text } of this.#registers.unused) this.#add(`[${text} without a statement]`);
    return this.#statements.filter((statement) => statement !== undefined);
  }

  /** Whether two comparisons are one with an interval. */
  #isInterval(first: Expression, second: Expression | undefined): first is Of<'cmp'> {
    return (
      first.kind === 'cmp' &&
      first.operator === 'gte' &&
      second?.kind === 'cmp' &&
      second.operator === 'lte' &&
      second.source === first.source
    );
  }

  #add(text: string): void {
    this.#statements.push(text);
  }

  #one(expression: Expression): void {
    if (this.#loads(expression)) return;
    const isOfOne = this.#family === 'ip' || this.#family === 'ip6';
    if (expression.kind === 'reject' && !this.#canReject(expression.type, isOfOne)) {
      this.#add(`[reject with ${expression.type}]`);
      return;
    }
    const text = plainStatement(expression, this.#network, isOfOne) ?? this.#statement(expression);
    if (!CONDITIONS.has(expression.kind)) this.#conditions.keep();
    if (!UNCHANGING.has(expression.kind)) this.#registers.forget();
    this.#add(text);
  }

  /** Whether the packets are those of which a reader takes the rejection to be. */
  #canReject(type: Of<'reject'>['type'], isOfOne: boolean): boolean {
    if (type === 'icmpx') return true;
    if (type === 'icmp') {
      if (this.#network) this.#leaveOut([{ layer: 'network', network: this.#network }]);
      return this.#network !== undefined;
    }
    const needs: readonly Need[] = [{ layer: 'transport', protocol: TCP }];
    if (isOfOne) this.#leaveOut(needs);
    return this.#conditions.has(needs);
  }

  /** Leaves out the statements that the needs of the next one imply. */
  #leaveOut(needs: readonly Need[] = []): void {
    for (const index of this.#conditions.implied(needs)) this.#statements[index] = undefined;
  }

  /** Whether the expression loads a register. */
  #loads(expression: Expression): boolean {
    switch (expression.kind) {
      case 'payload':
        return this.#load(expression.register, this.#payload(expression));
      case 'meta':
        return this.#load(expression.register, meta(expression));
      case 'ct':
        return this.#load(expression.register, this.#ct(expression));
      case 'bitwise': {
        const { source, register, mask, xor } = expression;
        const of = this.#made(source);
        const bits = xor.some((byte) => byte !== 0) ? undefined : this.#bits(of, mask);
        if (bits) return this.#load(register, bits, of);
        const value = { ...of, text: operandText(of), bits: { mask, xor } };
        const { prefixOf: _, inFront: __, ...whole } = value;
        const isWhole = mask.length === of.length && !of.isSwapped;
        return this.#load(register, isWhole ? whole : unnamed(whole, 'bitwise'), of);
      }
      case 'byteorder': {
        const { source, register, to, length, size } = expression;
        const of = this.#made(source);
        const isWhole = length === of.length && size === of.length && to === 'network' && !of.isNetwork;
        const { bits: _, prefixOf: __, place: ___, extension: ____, inFront: _____, ...whole } = of;
        const value = { ...whole, text: textOf(of), isNetwork: to === 'network', isSwapped: true };
        return this.#load(register, isWhole ? value : unnamed(value, 'byteorder'), of);
      }
      case 'shift': {
        const { source, register, direction, bits, length } = expression;
        const of = this.#made(source);
        const { bits: _, prefixOf: __, place: ___, extension: ____, inFront: ______, ...whole } = of;
        if (of.field && direction === 'right' && bits === of.field[0] && bits > 0 && length === of.length) {
          const { field: _____, ...value } = whole;
          return this.#load(register, { ...unnamed(value, 'shift'), inFront: of.text }, of);
        }
        const text = `${operandText(of)} ${direction === 'left' ? '<<' : '>>'} ${bits}`;
        const value = { ...whole, text };
        const isWhole = length === of.length && !of.isSwapped;
        return this.#load(register, isWhole ? value : unnamed(value, 'shift'), of);
      }
      case 'immediate': {
        const { register, data } = expression;
        const text = `0x${Buffer.from(data).toString('hex')}`;
        return this.#load(register, { ...value(text, 'number', data.length), constant: data });
      }
      case 'numgen': {
        const { register, type, modulus, offset } = expression;
        const text = `numgen ${type} mod ${modulus}${offset ? ` offset ${offset}` : ''}`;
        return this.#load(register, { ...value(text, 'integer'), isOnce: true });
      }
      case 'hash':
        return this.#load(expression.register, this.#hash(expression));
      case 'fib':
        return this.#load(expression.register, fib(expression));
      case 'rt':
        return this.#load(expression.register, route(expression));
      case 'socket':
        return this.#load(expression.register, socket(expression));
      case 'exthdr':
        return this.#load(expression.register, this.#extension(expression));
      case 'lookup':
        return this.#map(expression);
      default:
        return false;
    }
  }

  #load(register: number, loaded: Loaded, of?: Loaded): true {
    this.#registers.load(register, loaded, of);
    return true;
  }

  /** What another value is made of. */
  #made(register: number): Loaded {
    return this.#registers.at(register) ?? value(`[register ${register}]`, 'number');
  }

  /** The value that a statement uses. */
  #source(register: number): Loaded {
    return this.#used(this.#made(register));
  }

  #used(loaded: Loaded): Loaded {
    this.#leaveOut(loaded.needs);
    return this.#registers.use(loaded);
  }

  /** A field by its name, or by its place, where a reader would not find the packet to have it. */
  #payload({ base, offset, length }: Omit<Of<'payload'>, 'kind' | 'register'>): Loaded {
    const field = fieldAt({ base, offset, length }, this.#conditions.known);
    const short = { link: 'll', network: 'nh', transport: 'th', inner: 'ih' }[base];
    const raw: Loaded = {
      ...value(`@${short},${offset * 8},${length * 8}`, 'hexadecimal', length),
      ...{ isNetwork: true, place: { base, offset, length } },
    };
    if (!field) return raw;
    const text = `${field.header} ${field.name}`;
    const needs = fieldNamed(field.header, field.name)?.needs ?? [];
    if (!this.#conditions.has(needs)) return raw;
    // The type of what is behind a tag is read with the tag known, and without it has another place.
    const implied = text === 'vlan type' ? needs.filter(({ layer }) => layer !== 'vlan') : needs;
    const named = { text, type: field.type, length: field.length, needs: implied };
    return field.length === length ? { ...raw, ...named } : { ...raw, prefixOf: named };
  }

  /** The field that is some bits of a value; undefined if there is none. */
  #bits({ place, extension, bits: changed }: Loaded, mask: Uint8Array): Loaded | undefined {
    const option = extension && !changed ? extensionBitsAt(extension, mask) : undefined;
    if (extension && option?.bits && this.#conditions.has(needsOfExtension(extension))) {
      const loaded = value(option.text, option.type, extension.length);
      return { ...loaded, needs: needsOfExtension(extension), field: option.bits, isNetwork: true };
    }
    const field = place && !changed ? bitsAt(place, mask, this.#conditions.known) : undefined;
    const needs = field && fieldNamed(field.header, field.name)?.needs;
    if (!field?.bits || !needs || !this.#conditions.has(needs)) return undefined;
    const { header, name, type, length, bits } = field;
    return { ...value(`${header} ${name}`, type, length), needs, field: bits, isNetwork: true };
  }

  #extension(expression: Of<'exthdr'> | Of<'exthdrSet'>): Loaded {
    const { operation = 'ipv6', type, offset, length } = expression;
    const present = expression.kind === 'exthdr' && expression.present;
    const needs = needsOfExtension(expression);
    const text =
      (this.#conditions.has(needs) ? extensionText(expression) : undefined) ??
      `[exthdr ${operation} ${type},${offset * 8},${length * 8}]`;
    if (present) return { ...value(text, 'boolean', length), needs };
    const loadedType = extensionAt(expression)?.type ?? 'number';
    return { ...value(text, loadedType, length), isNetwork: true, needs, extension: expression };
  }

  #ct({ key, direction }: Of<'ct'>): Loaded {
    const known = typeof key === 'string' ? CT_FIELDS[key] : undefined;
    const [type, name = String(key), length = lengthOf(type)] = known ?? [
      'integer',
      undefined,
      key === 'labels' ? 16 : 4,
    ];
    const isAddress = key === 'src' || key === 'dst';
    if (isAddress) this.#conditions.keep();
    const isSix = isAddress && this.#network === 'ip6';
    const text = `ct ${direction === undefined ? '' : `${direction} `}${name}`;
    const isNetwork =
      IN_NETWORK_ORDER.has(key) || type === 'ipv4_addr' || type === 'ipv6_addr' || type === 'inet_service';
    return { ...value(text, isSix ? 'ipv6_addr' : type, isSix ? 16 : length), isNetwork };
  }

  #hash({ type, source = 1, modulus, seed, offset, length = 4 }: Of<'hash'>): Loaded {
    const start = seed === undefined ? '' : ` seed 0x${seed.toString(16)}`;
    const tail = `mod ${modulus}${start}${offset ? ` offset ${offset}` : ''}`;
    if (type === 'symhash') return value(`symhash ${tail}`, 'integer');
    const parts = this.#partsOfLength(source, length);
    const hashed = parts?.some(({ isSwapped }) => isSwapped) ? undefined : parts?.map(textOf).join(' . ');
    for (const part of parts ?? []) this.#registers.use(part);
    const needs = parts?.flatMap((part) => part.needs ?? []) ?? [];
    return { ...value(`jhash ${hashed ?? `[register ${source}]`} ${tail}`, 'integer'), needs };
  }

  /** The values from a register on that have so many bytes: one, or several with padding. */
  #partsOfLength(register: number, length: number): readonly Loaded[] | undefined {
    for (let count = 1; count < 16; count++) {
      const parts = this.#registers.parts(register, count);
      if (!parts) return undefined;
      const total = parts.reduce((sum, part) => sum + ((part.length + 3) & ~3), 0);
      if ((count === 1 ? parts[0]?.length : total) === length) return parts;
      if (total > length) return undefined;
    }
    return undefined;
  }

  /** The key of a look-up: one value, or one for each type of the set. */
  #key(register: number, content: SetContent | undefined): string {
    if (!content) return textOf(this.#source(register));
    const { key, flags } = content.set;
    const parts = this.#registers.parts(register, typeof key === 'object' ? key.length : 1);
    const isInterval = flags.includes('interval');
    if (!parts?.every((part) => (isInterval ? isOrdered(part) : !part.isSwapped)))
      return `[register ${register}]`;
    const types = typeof key === 'number' ? [] : typeof key === 'string' ? [key] : key;
    if (!content.set.anonymous)
      return parts
        .map((part, i) => this.#constantText(part, types[i], isInterval) ?? wholeText(this.#used(part)))
        .join(' . ');
    // A reader takes the types from the values.
    const isOther = (part: Loaded, i: number) => !isSameKey(setTypeOf(part), types[i], parts.length > 1);
    if (parts.some(isOther)) return `[${types} of ${parts.map(textOf).join(' . ')}]`;
    return parts.map((part) => textOf(this.#used(part))).join(' . ');
  }

  /** A value that the rule states, in the notation of the type of the key; undefined if it is another one. */
  #constantText(part: Loaded, type: ValueType | undefined, isInterval: boolean): string | undefined {
    const { constant } = part;
    if (!constant || type === undefined) return undefined;
    this.#registers.use(part);
    return this.#linkText({ ...part, type }, constant, isInterval) ?? dataText(type, constant, isInterval);
  }

  #setText(name: string, content: SetContent | undefined, parts: readonly Loaded[]): string {
    if (!content?.set.anonymous) return `@${nameText(name)}`;
    if (parts.every((part) => !part.field && isPlainKey(part)))
      return this.#written?.get(content.elements) ?? atOnce(anonymousText(content));
    const isInterval = content.set.flags.includes('interval');
    const show = (part: Loaded, bytes: Uint8Array) =>
      this.#linkText(part, bytes, isInterval) ?? shownText(part, bytes, part.isNetwork || isInterval, ' | ');
    return atOnce(anonymousText(content, { parts, show }));
  }

  /** The name of the link of an index; undefined of other values. */
  #linkText({ type, bits }: Loaded, bytes: Uint8Array, isNetwork = false): string | undefined {
    if (type !== 'iface_index' || bits || bytes.length !== 4) return undefined;
    const link = this.#links.get(numberOf(bytes, isNetwork));
    return link === undefined ? undefined : quoted(link);
  }

  /** A set, and the texts of it and of its key. */
  #lookedUp({ set, source }: Pick<Of<'lookup'>, 'set' | 'source'>) {
    const name = typeof set === 'string' ? set : '';
    const content = typeof set === 'string' ? this.#find(set) : contentOf(set);
    const types = content?.set.key;
    // Before they are used: a value may be another one the next time.
    const parts = this.#registers.parts(source, typeof types === 'object' ? types.length : 1) ?? [];
    const key = this.#key(source, content);
    return { content, key, text: this.#setText(name, content, parts) };
  }

  /** A look-up: one that loads data is a value, any other a statement. */
  #map(expression: Of<'lookup'>): boolean {
    const { register, invert } = expression;
    const { content, key, text } = this.#lookedUp(expression);
    if (register === undefined) {
      this.#add(`${key} ${invert ? '!= ' : ''}${text}`);
      if (content?.set.anonymous && !invert) this.#conditions.learnOfSet(key, content.elements);
    } else if (
      invert ||
      (register === 0) !== (content?.set.data === 'verdict' || (!content && register === 0))
    )
      this.#add(`[lookup ${key} ${text}]`);
    else if (register === 0) {
      this.#conditions.keep();
      this.#add(`${key} vmap ${text}`);
    } else {
      const { data, dataIsInterval, dataLength = 4 } = content?.set ?? {};
      const types = data === undefined || data === 'verdict' ? 'integer' : data;
      const type: LoadedType = typeof types === 'string' ? types : 'integer';
      const loaded = { ...value(`${key} map ${text}`, type, dataLength), types };
      this.#load(register, dataIsInterval ? { ...loaded, hasEnds: true } : loaded);
    }
    return true;
  }

  #statement(expression: Expression): string {
    switch (expression.kind) {
      case 'verdict':
        return verdictText(expression.verdict);
      case 'cmp':
        return this.#compare(expression);
      case 'range': {
        const { source, operator, from, to } = expression;
        return rangeText(this.#source(source), operator === 'eq', from, to);
      }
      case 'metaSet': {
        const { key, source } = expression;
        const type = (typeof key === 'string' ? META_TYPES[key] : undefined) ?? 'integer';
        return `meta ${META_NAMES[key] ?? key} set ${this.#given(source, type, IN_NETWORK_ORDER.has(key))}`;
      }
      case 'ctSet': {
        const { key, direction, source } = expression;
        const [type] = (typeof key === 'string' ? CT_FIELDS[key] : undefined) ?? (['integer'] as const);
        const name = (typeof key === 'string' ? CT_FIELDS[key]?.[1] : undefined) ?? key;
        return `ct ${direction === undefined ? '' : `${direction} `}${name} set ${this.#given(source, type, IN_NETWORK_ORDER.has(key))}`;
      }
      case 'payloadSet': {
        const part = this.#part(expression);
        if (part !== undefined) return part;
        const { text, type, needs } = this.#payload(expression);
        this.#leaveOut(needs);
        const given = this.#given(expression.source, type, true);
        const field = fieldAt(expression, this.#conditions.known);
        return isSameChecksum(expression, text) && (!field || text.startsWith('@') || !bytesAround(field))
          ? `${text} set ${given}`
          : `[payloadSet ${text} set ${given}]`;
      }
      case 'exthdrSet': {
        const { text } = this.#extension(expression);
        const isNamed = expression.operation === 'tcpopt' && extensionAt(expression)?.type === 'number';
        return isNamed
          ? `${text} set ${this.#given(expression.source, 'number', true)}`
          : `[exthdrSet ${this.#given(expression.source, 'number', true)}]`;
      }
      case 'dynset':
        return this.#dynset(expression);
      case 'objrefMap': {
        const { content, key, text } = this.#lookedUp(expression);
        const map = `${key} map ${text}`;
        const objects = content?.set.objects;
        return objects === undefined ? `[objref ${map}]` : objectStatement(objects, map);
      }
      case 'nat':
        return this.#nat(expression);
      case 'masq':
      case 'redir': {
        const name = expression.kind === 'masq' ? 'masquerade' : 'redirect';
        const ports = this.#range(expression.port, expression.portEnd, 'inet_service');
        return `${name}${ports === undefined ? '' : ` to :${ports}`}${flagsOf(expression)}`;
      }
      case 'dup': {
        const { address, device } = expression;
        const type = this.#network === 'ip6' ? 'ipv6_addr' : 'ipv4_addr';
        const to = address === undefined ? '' : ` to ${this.#given(address, type, true)}`;
        if (device === undefined) return `dup${to}`;
        return `dup${to}${address === undefined ? ' to' : ' device'} ${this.#link(device)}`;
      }
      case 'fwd':
        return `fwd to ${this.#link(expression.device)}`;
      case 'tproxy': {
        const { family, address, port } = expression;
        if ((this.#family === 'ip' || this.#family === 'ip6') && this.#family !== family)
          return `[tproxy ${family}]`;
        const type = family === 'ip6' ? 'ipv6_addr' : 'ipv4_addr';
        const name = this.#family === 'inet' && family !== 'inet' ? ` ${family}` : '';
        const to = address === undefined ? '' : this.#given(address, type, true);
        const target = family === 'ip6' && to !== '' ? `[${to}]` : to;
        return `tproxy${name} to ${target}${port === undefined ? '' : `:${this.#given(port, 'inet_service', true)}`}`;
      }
      case 'unknown':
        return `[${expression.name}]`;
      default:
        return `[${expression.kind}]`;
    }
  }

  /** The assignment to a field that is a part of the bytes that are written; undefined of any other. */
  #part(expression: Of<'payloadSet'>): string | undefined {
    const { place, bits } = this.#made(expression.source);
    const { base, offset, length } = expression;
    const isSame = place?.base === base && place.offset === offset && place.length === length;
    const field = isSame && bits ? fieldAround(expression, bits.mask, this.#conditions.known) : undefined;
    const needs = field && fieldNamed(field.header, field.name)?.needs;
    if (!field || !needs || !bits || !this.#conditions.has(needs)) return undefined;
    const text = `${field.header} ${field.name}`;
    if (bits.xor.some((byte, i) => byte & (bits.mask[i] as number)) || !isSameChecksum(expression, text))
      return undefined;
    this.#source(expression.source);
    this.#leaveOut(needs);
    const { type, bits: own } = field;
    const loaded = { ...value(text, type, field.length), ...(own && { field: own }) };
    const at = field.offset - offset;
    return `${text} set ${shownText(loaded, bits.xor.slice(at, at + field.length), true, ' | ')}`;
  }

  /** A value that is assigned: a constant in the notation of the target, or an expression. */
  #given(register: number, type: LoadedType, isNetwork = false): string {
    const loaded = this.#source(register);
    if (loaded.constant) return dataText(type, loaded.constant, isNetwork);
    // A reader puts an integer into network order where it is assigned to a number of the packet.
    const isOrdered = type === 'number' && loaded.type === 'integer' && loaded.isNetwork;
    if (isOrdered ? loaded.bits : loaded.isSwapped) return `[byteorder ${textOf(loaded)}]`;
    if (type === 'number' && !loaded.isNetwork && loaded.length > 1) return `[order of ${textOf(loaded)}]`;
    if (loaded.inFront !== undefined && type === 'mark' && loaded.length === 1) return loaded.inFront;
    return loaded.field?.[0] ? wholeText(loaded) : textOf(loaded);
  }

  /** The name of a link in a register, or its index. */
  #link(register: number): string {
    const { constant } = this.#made(register);
    const name = constant && this.#links.get(numberOf(constant, false));
    const given = this.#given(register, 'iface_index');
    return name === undefined ? given : quoted(name);
  }

  #compare({ source, operator, data }: Of<'cmp'>): string {
    const made = this.#made(source);
    const isPrefix = made.prefixOf && (operator === 'eq' || operator === 'neq');
    if (isPrefix) this.#leaveOut(made.prefixOf?.needs);
    const loaded = this.#source(source);
    const link = this.#linkText(loaded, data, loaded.isNetwork);
    const isEquality = operator === 'eq' || operator === 'neq';
    if (link !== undefined && isEquality) return `${loaded.text} ${operator === 'eq' ? '' : '!= '}${link}`;
    const text = comparisonText(loaded, operator, data);
    if (operator === 'eq' && !loaded.bits && !isPrefix && data.length === loaded.length)
      this.#conditions.learn(loaded.text, data, this.#statements.length);
    return text;
  }

  #dynset({ operation, set, source, dataSource, timeout, invert, expressions = [] }: Of<'dynset'>): string {
    const content = this.#find(set);
    const words = [this.#key(source, content)];
    if (timeout) words.push(`timeout ${timeText(timeout)}`);
    words.push(...expressions.map((each) => statelessText(each) ?? `[${each.kind}]`));
    const types = content?.set.data;
    const type: LoadedType = typeof types === 'string' && types !== 'verdict' ? types : 'integer';
    if (dataSource !== undefined) words.push(`: ${this.#given(dataSource, type)}`);
    if (invert) words.push('[invert]');
    return `${operation} @${nameText(set)} { ${words.join(' ')} }`;
  }

  #nat(given: Of<'nat'>): string {
    const expression = this.#withoutEnds(given);
    if (!expression) return `[${given.type} of a map of intervals]`;
    const { type, family, address, addressEnd, port, portEnd } = expression;
    const addresses = this.#range(address, addressEnd, family === 'ip' ? 'ipv4_addr' : 'ipv6_addr');
    const map = address === undefined ? undefined : this.#registers.at(address)?.types;
    // What loads a port that nothing else has loaded is the map of the address: of a set that is not known, its types are not either.
    const isLoaded = port === undefined || this.#registers.at(port) !== undefined;
    const isConcatenation = typeof map === 'object' || (map !== undefined && !isLoaded);
    const behind = address === undefined ? 0 : wordOf(address) + (family === 'ip' ? 1 : 4);
    if (typeof map === 'object' && (port === undefined || wordOf(port) !== behind))
      return `[${type} to ${addresses}]`;
    const ports = isConcatenation ? undefined : this.#range(port, portEnd, 'inet_service');
    let text: string = type;
    const { flags = [] } = expression;
    const isPrefix = flags.includes('netmap') && given.addressEnd !== undefined && addressEnd === undefined;
    if (isConcatenation || isPrefix || this.#family === 'inet') text += ` ${family}`;
    if (isPrefix) text += ' prefix';
    if (addresses !== undefined || ports !== undefined) text += ' to ';
    if (addresses !== undefined) {
      const isSix =
        family === 'ip6' && ports !== undefined && addresses.includes(':') && !addresses.includes(' ');
      text += isSix ? `[${addresses.replace('-', ']-[')}]` : addresses;
    }
    if (ports !== undefined) text += `:${ports}`;
    return text + flagsOf({ flags: isPrefix ? flags.filter((flag) => flag !== 'netmap') : flags });
  }

  /** A translation without the ends that a reader takes from a map of intervals; undefined if it has other ones. */
  #withoutEnds(expression: Of<'nat'>): Of<'nat'> | undefined {
    const { address, addressEnd, port, portEnd, ...others } = expression;
    const map = address === undefined ? undefined : this.#registers.at(address);
    if (address === undefined || !map?.hasEnds) return expression;
    const words = typeof map.types === 'number' ? 0 : layoutOf(map.types as ValueTypes).length / 4;
    const isEnd = (end: number | undefined, start: number) =>
      end !== undefined && wordOf(end) === wordOf(start) + words;
    const isPort = port === undefined ? portEnd === undefined : isEnd(portEnd, port);
    if (!isEnd(addressEnd, address) || !isPort) return undefined;
    return { ...others, address, ...(port !== undefined && { port }) };
  }

  /** One value, or first and last of a range; undefined if there is none. */
  #range(first: number | undefined, last: number | undefined, type: ValueType): string | undefined {
    if (first === undefined) return undefined;
    const text = this.#given(first, type, true);
    return last === undefined ? text : `${text}-${this.#given(last, type, true)}`;
  }
}

/** The text of a whole value: of some bits, without those behind them. */
function wholeText(loaded: Loaded): string {
  return loaded.inFront ?? (loaded.field?.[0] ? `[bits of ${textOf(loaded)}]` : textOf(loaded));
}

/** Whether a set has elements of a type. In a listing, the integers in a concatenation have no length of their own. */
function isSameKey(type: ValueType | undefined, listed: ValueType | undefined, isPart: boolean): boolean {
  if (type === listed) return type !== undefined;
  if (!type?.startsWith('integer') || !listed?.startsWith('integer')) return false;
  return isPart || layoutOf(type).length === layoutOf(listed).length;
}

/** A value that has no notation: one of another length than the expression says. */
function unnamed(loaded: Loaded, kind: Expression['kind']): Loaded {
  return { ...loaded, text: `[${kind} ${loaded.text}]` };
}

/** Whether a reader corrects the same checksum when the field is written. */
function isSameChecksum({ checksum = { type: 'none' } }: Of<'payloadSet'>, text: string): boolean {
  const { type, offset = 0, pseudoHeader = false } = checksum;
  const read = checksumOf(text) ?? { type: 'none' };
  return type === read.type && offset === (read.offset ?? 0) && pseudoHeader === (read.pseudoHeader ?? false);
}
