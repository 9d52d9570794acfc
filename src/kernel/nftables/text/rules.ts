// Rules as nft lists them, from their expressions.
import { atOnce } from '../../../steps.js';
import type { Element, Expression, Rule, ValueType } from '../types.js';
import { extensionAt, extensionText } from './extensions.js';
import {
  CT_FIELDS,
  fieldAt,
  IN_NETWORK_ORDER,
  type Known,
  lengthOf,
  META_NAMES,
  META_TYPES,
  networkOf,
} from './fields.js';
import { contentOf, fib, flagsOf, meta, route, socket, value } from './loaded.js';
import { comparisonText, type Loaded, numberOf, Registers, rangeText, textOf } from './registers.js';
import { anonymousText, type SetContent, verdictText } from './sets.js';
import { plainStatement, statelessText } from './statements.js';
import { dataText, type LoadedType, timeText } from './values.js';

/** What rules refer to. */
export interface Surroundings {
  /** Finds a set of the table of the rule. */
  readonly find: (name: string) => SetContent | undefined;
  /** Names of links by their indexes. */
  readonly links: ReadonlyMap<number, string>;
  /** Texts of sets of the rule that are written already, by their elements. Others are written with the rule, at once. */
  readonly written?: ReadonlyMap<readonly Element[], string>;
}

type Of<Kind extends Expression['kind']> = Extract<Expression, { kind: Kind }>;

/** The text of a rule without its comment. What has no notation here is in brackets: `[xt match]`. */
export function ruleText(rule: Pick<Rule, 'family' | 'expressions'>, surroundings: Surroundings): string {
  return new RuleReader(rule.family, surroundings).read(rule.expressions).join(' ');
}

/** `ARPHRD_ETHER` */
const ETHERNET = 1;

/** A statement that nft leaves out, because a later one implies it. */
interface Implied {
  readonly index: number;
  readonly layer: 'link' | 'network' | 'transport';
}

class RuleReader {
  readonly #family: Rule['family'];
  readonly #find: Surroundings['find'];
  readonly #links: Surroundings['links'];
  readonly #written: Surroundings['written'];
  readonly #registers = new Registers();
  #statements: (string | undefined)[] = [];
  #known: Known;
  #isEthernet: boolean;
  #implied: Implied[] = [];

  constructor(family: Rule['family'], { find, links, written }: Surroundings) {
    this.#family = family;
    this.#find = find;
    this.#links = links;
    this.#written = written;
    this.#known = { network: family === 'ip' || family === 'ip6' ? family : undefined, transport: undefined };
    this.#isEthernet = family === 'bridge';
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
    const loaded = this.#loads(expression);
    if (loaded) return;
    const isOfOne = this.#family === 'ip' || this.#family === 'ip6';
    const plain = plainStatement(expression, this.#known.network, isOfOne);
    if (expression.kind === 'reject' && expression.type === 'icmp') this.#drop('network');
    if (expression.kind === 'reject' && expression.type === 'tcp reset' && isOfOne) this.#drop('transport');
    this.#add(plain ?? this.#statement(expression));
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
        return this.#load(register, { ...this.#source(source), bits: { mask, xor } });
      }
      case 'byteorder': {
        const { source, register, to } = expression;
        return this.#load(register, { ...this.#source(source), isNetwork: to === 'network' });
      }
      case 'shift': {
        const { source, register, direction, bits } = expression;
        const loaded = this.#source(source);
        const text = `${textOf(loaded)} ${direction === 'left' ? '<<' : '>>'} ${bits}`;
        return this.#load(register, { ...loaded, text });
      }
      case 'immediate': {
        const { register, data } = expression;
        const text = `0x${Buffer.from(data).toString('hex')}`;
        return this.#load(register, { ...value(text, 'number', data.length), constant: data });
      }
      case 'numgen': {
        const { register, type, modulus, offset } = expression;
        const text = `numgen ${type} mod ${modulus}${offset ? ` offset ${offset}` : ''}`;
        return this.#load(register, value(text, 'integer'));
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

  #load(register: number, loaded: Loaded): true {
    this.#registers.load(register, loaded);
    return true;
  }

  #source(register: number): Loaded {
    return this.#registers.at(register) ?? value(`[register ${register}]`, 'number');
  }

  /** @param isWhole a field that is longer is none: only its beginning would be written */
  #payload({ base, offset, length }: Omit<Of<'payload'>, 'kind' | 'register'>, isWhole = false): Loaded {
    const isKnown = base !== 'link' || this.#isEthernet;
    const field = isKnown ? fieldAt({ base, offset, length }, this.#known) : undefined;
    if (!field || (isWhole && field.length !== length)) {
      const short = { link: 'll', network: 'nh', transport: 'th', inner: 'ih' }[base];
      return { ...value(`@${short},${offset * 8},${length * 8}`, 'hexadecimal', length), isNetwork: true };
    }
    if (base === 'link') this.#drop('link');
    if (base === 'network' || field.header === 'icmp' || field.header === 'icmpv6') this.#drop('network');
    if (base === 'transport' && field.header !== 'th') this.#drop('transport');
    const text = `${field.header} ${field.name}`;
    return { ...value(text, field.type, length), whole: field.length, isNetwork: true };
  }

  #extension(expression: Of<'exthdr'>): Loaded {
    const { operation = 'ipv6', type, offset, length, present } = expression;
    const text = extensionText(expression);
    const unnamed = `[exthdr ${operation} ${type},${offset * 8},${length * 8}]`;
    if (text !== undefined && (operation === 'ipv6' || operation === 'ipv4')) this.#drop('network');
    if (present) return value(text ?? unnamed, 'boolean', length);
    const loadedType = extensionAt(expression)?.type ?? 'number';
    return { ...value(text ?? unnamed, loadedType, length), isNetwork: true };
  }

  #ct({ key, direction }: Of<'ct'>): Loaded {
    const known = typeof key === 'string' ? CT_FIELDS[key] : undefined;
    const [type, name = String(key), length = lengthOf(type)] = known ?? ['integer'];
    const network = (key === 'src' || key === 'dst') && this.#known.network ? `${this.#known.network} ` : '';
    const isSix = network === 'ip6 ';
    const text = `ct ${direction === undefined ? '' : `${direction} `}${network}${name}`;
    const isNetwork =
      IN_NETWORK_ORDER.has(key) || type === 'ipv4_addr' || type === 'ipv6_addr' || type === 'inet_service';
    return { ...value(text, isSix ? 'ipv6_addr' : type, isSix ? 16 : length), isNetwork };
  }

  #hash({ type, source, modulus, seed, offset, length = 4 }: Of<'hash'>): Loaded {
    const tail = `mod ${modulus}${seed ? ` seed 0x${seed.toString(16)}` : ''}${offset ? ` offset ${offset}` : ''}`;
    if (type === 'symhash') return value(`symhash ${tail}`, 'integer');
    return value(`jhash ${this.#keyOfLength(source ?? 1, length)} ${tail}`, 'integer');
  }

  /** The values from a register on that have so many bytes, with padding. */
  #keyOfLength(register: number, length: number): string {
    for (let count = 1; count < 16; count++) {
      const parts = this.#registers.parts(register, count);
      if (!parts) break;
      const total = parts.reduce((sum, part) => sum + ((part.length + 3) & ~3), 0);
      if (total >= length) return parts.map(textOf).join(' . ');
    }
    return textOf(this.#source(register));
  }

  /** The key of a look-up: one value, or one for each type of the set. */
  #key(register: number, content: SetContent | undefined): string {
    const types = content?.set.key;
    const parts = typeof types === 'object' ? this.#registers.parts(register, types.length) : undefined;
    return parts ? parts.map(textOf).join(' . ') : textOf(this.#source(register));
  }

  #setText(name: string, content: SetContent | undefined): string {
    if (!content?.set.anonymous) return `@${name}`;
    return this.#written?.get(content.elements) ?? atOnce(anonymousText(content));
  }

  /** A look-up: one that loads data is a value, any other a statement. */
  #map({ set, source, register, invert }: Of<'lookup'>): boolean {
    const name = typeof set === 'string' ? set : '';
    const content = typeof set === 'string' ? this.#find(set) : contentOf(set);
    const key = this.#key(source, content);
    const text = this.#setText(name, content);
    if (register === undefined) this.#add(`${key} ${invert ? '!= ' : ''}${text}`);
    else if (register === 0) this.#add(`${key} vmap ${text}`);
    else {
      const { data, dataLength = 4 } = content?.set ?? {};
      const types = data === undefined || data === 'verdict' ? 'integer' : data;
      const type: LoadedType = typeof types === 'string' ? types : 'integer';
      this.#load(register, { ...value(`${key} map ${text}`, type, dataLength), types });
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
        return `ct ${direction === undefined ? '' : `${direction} `}${key} set ${this.#given(source, type, IN_NETWORK_ORDER.has(key))}`;
      }
      case 'payloadSet': {
        const { text, type } = this.#payload(expression, true);
        return `${text} set ${this.#given(expression.source, type, true)}`;
      }
      case 'dynset':
        return this.#dynset(expression);
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
        const type = this.#known.network === 'ip6' ? 'ipv6_addr' : 'ipv4_addr';
        const to = address === undefined ? '' : ` to ${this.#given(address, type, true)}`;
        if (device === undefined) return `dup${to}`;
        return `dup${to}${address === undefined ? ' to' : ' device'} ${this.#link(device)}`;
      }
      case 'fwd':
        return `fwd to ${this.#link(expression.device)}`;
      case 'tproxy': {
        const { family, address, port } = expression;
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

  /** A value that is assigned: a constant in the notation of the target, or an expression. */
  #given(register: number, type: LoadedType, isNetwork = false): string {
    const loaded = this.#source(register);
    return loaded.constant ? dataText(type, loaded.constant, isNetwork) : textOf(loaded);
  }

  /** The name of a link in a register, or its index. */
  #link(register: number): string {
    const { constant } = this.#source(register);
    const name = constant && this.#links.get(numberOf(constant, false));
    return name === undefined ? this.#given(register, 'iface_index') : `"${name}"`;
  }

  #compare({ source, operator, data }: Of<'cmp'>): string {
    const loaded = this.#source(source);
    const link =
      loaded.type === 'iface_index' ? this.#links.get(numberOf(data, loaded.isNetwork)) : undefined;
    const text = comparisonText(
      link === undefined ? loaded : { ...loaded, type: 'ifname' },
      operator,
      link === undefined ? data : Buffer.from(`${link}\0`),
    );
    if (operator !== 'eq' || loaded.bits) return text;
    const index = this.#statements.length;
    if (loaded.text === 'meta l4proto' || loaded.text === 'ip protocol' || loaded.text === 'ip6 nexthdr') {
      this.#known = { ...this.#known, transport: data[0] };
      const isField = loaded.text !== 'meta l4proto';
      if (!isField || this.#family === 'ip' || this.#family === 'ip6')
        this.#implied.push({ index, layer: 'transport' });
    }
    if (loaded.text === 'meta iiftype' && numberOf(data, false) === ETHERNET) {
      this.#isEthernet = true;
      this.#implied.push({ index, layer: 'link' });
    }
    const network = networkOf(loaded.text, data);
    if (network && this.#family !== 'ip' && this.#family !== 'ip6') {
      this.#known = { ...this.#known, network };
      this.#implied.push({ index, layer: 'network' });
    }
    return text;
  }

  /** Leaves out the statement that says that a packet has the header of a layer. */
  #drop(layer: Implied['layer']): void {
    this.#implied = this.#implied.filter((implied) => {
      if (implied.layer !== layer) return true;
      this.#statements[implied.index] = undefined;
      return false;
    });
  }

  #dynset({ operation, set, source, dataSource, timeout, expressions = [] }: Of<'dynset'>): string {
    const content = this.#find(set);
    const words = [this.#key(source, content)];
    if (timeout) words.push(`timeout ${timeText(timeout)}`);
    words.push(...expressions.map((each) => statelessText(each) ?? `[${each.kind}]`));
    const types = content?.set.data;
    const type: LoadedType = typeof types === 'string' && types !== 'verdict' ? types : 'integer';
    if (dataSource !== undefined) words.push(`: ${this.#given(dataSource, type, true)}`);
    return `${operation} @${set} { ${words.join(' ')} }`;
  }

  #nat(expression: Of<'nat'>): string {
    const { type, family, address, addressEnd, port, portEnd } = expression;
    const addresses = this.#range(address, addressEnd, family === 'ip' ? 'ipv4_addr' : 'ipv6_addr');
    const map = address === undefined ? undefined : this.#registers.at(address)?.types;
    // What loads a port that nothing else has loaded is the map of the address: of a set that is not known, its types are not either.
    const isLoaded = port === undefined || this.#registers.at(port) !== undefined;
    const isConcatenation = typeof map === 'object' || (map !== undefined && !isLoaded);
    const ports = isConcatenation ? undefined : this.#range(port, portEnd, 'inet_service');
    let text: string = type;
    if (isConcatenation || this.#family === 'inet') text += ` ${family}`;
    if (addresses !== undefined || ports !== undefined) text += ' to ';
    if (addresses !== undefined) {
      const isSix =
        family === 'ip6' && ports !== undefined && addresses.includes(':') && !addresses.includes(' ');
      text += isSix ? `[${addresses.replace('-', ']-[')}]` : addresses;
    }
    if (ports !== undefined) text += `:${ports}`;
    return text + flagsOf(expression);
  }

  /** One value, or first and last of a range; undefined if there is none. */
  #range(first: number | undefined, last: number | undefined, type: ValueType): string | undefined {
    if (first === undefined) return undefined;
    const text = this.#given(first, type, true);
    return last === undefined ? text : `${text}-${this.#given(last, type, true)}`;
  }
}
