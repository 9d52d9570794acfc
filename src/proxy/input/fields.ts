// Reads fields of an untrusted object. Every invalid value becomes a Problem that names it, and reads as
// undefined: the caller uses the rest.
import { integerRule, isIntegerWithin } from '../../kernel/arguments.js';
import type { Problem } from '../../kernel/errors.js';
import { canonicalAddress, type SpecialUse, specialUse } from '../../kernel/net/address.js';
import { canonicalNetwork } from '../../kernel/net/network.js';
import type { Protocol } from '../../kernel/net/protocol.js';
import { isName, type NameRule } from './names.js';

/** A record of which nothing more is known. */
export interface Untyped {
  readonly [name: string]: unknown;
}

/** Names of the fields of a type that may hold a `Value`. Where the type of a field is unknown, any method may read it. */
type Name<Of, Value> = string &
  {
    [N in keyof Of & string]-?: unknown extends Of[N] ? N : NonNullable<Of[N]> extends Value ? N : never;
  }[keyof Of & string];

/** The type of a nested object. */
type Child<Value> = unknown extends Value ? Untyped : NonNullable<Value>;

/** The type of the objects of a list. */
type Element<Value> = NonNullable<Value> extends readonly (infer Item)[] ? Item : Untyped;

/** A record without fields. */
const NONE: Untyped = Object.freeze({});

/**
 * An object's fields, with the path that leads to them. `Of` is the type that the object should have: the compiler checks
 * the names of the fields that are read, and which method reads them. At run time nothing is believed.
 *
 * The path is made only for a problem: hundreds of thousands of endpoints have none.
 */
export class Fields<Of = Untyped> {
  readonly #object: string;
  readonly #problems: Problem[];
  readonly #values: Untyped;
  /** The fields that these are nested in, by the name of their field and its index; -1 if it is not a list. */
  readonly #parent: Fields | undefined;
  readonly #name: string;
  readonly #index: number;

  constructor(object: string, problems: Problem[], values: Untyped, parent?: Fields, name = '', index = -1) {
    this.#object = object;
    this.#problems = problems;
    this.#values = values;
    this.#parent = parent;
    this.#name = name;
    this.#index = index;
  }

  /** The same fields, read as those of a type. */
  as<Type>(): Fields<Type> {
    return this as unknown as Fields<Type>;
  }

  /** The fields as they are, unchecked. */
  get values(): Untyped {
    return this.#values;
  }

  /** Reports that a field is invalid. */
  report(name: string, rule: string, value: unknown = this.#values[name]): undefined {
    const shown = value === undefined ? {} : { value };
    this.#problems.push({ object: this.#object, field: this.#path() + name, rule, ...shown });
    return undefined;
  }

  /**
   * Reports that a value is readable and not used. Unlike an unreadable one, it is not replaced by a former value.
   */
  refuse(name: string, rule: string, value: unknown): undefined {
    this.#problems.push({
      object: this.#object,
      field: this.#path() + name,
      rule,
      value,
      reason: 'FieldLeftOut',
    });
    return undefined;
  }

  /**
   * Reads a part of the object. If the part is invalid and nothing of it is readable, its last readable value is used,
   * and the problems say so.
   *
   * @param former the last readable value; undefined or empty for none
   */
  orFormer<T>(read: () => T, former: T | undefined): T {
    return this.restoring(read, (part) => (isNothing(part) && !isNothing(former) ? former : undefined));
  }

  /**
   * The same for a part that may be readable in part: `restore` receives the readable rest and returns the whole, or
   * undefined to leave the rest as it is.
   */
  restoring<T>(read: () => T, restore: (part: T) => T | undefined): T {
    const problems = this.#problems;
    const first = problems.length;
    const part = read();
    let isReadable = true;
    for (let i = first; i < problems.length; i++) isReadable &&= isRefusal(problems[i] as Problem);
    if (isReadable) return part;
    const restored = restore(part);
    if (restored === undefined) return part;
    for (let i = first; i < problems.length; i++) {
      const problem = problems[i] as Problem;
      if (!isRefusal(problem)) problems[i] = kept(problem);
    }
    return restored;
  }

  /** Whether a field is present; null counts as absent. */
  has(name: keyof Of & string): boolean {
    return !isAbsent(this.#values[name]);
  }

  /** A nested object; an absent one has no fields. */
  child<N extends Name<Of, object>>(name: N): Fields<Child<Of[N & keyof Of]>> {
    const value = this.#values[name];
    if (isRecord(value)) return this.#at(value, name);
    if (!isAbsent(value)) this.report(name, 'must be an object');
    return this.#at(NONE, name);
  }

  /**
   * The objects of a list, each with its index in the path; absent means empty. One at a time: a tenant makes the list, and to
   * collect garbage takes as long as there are objects in use.
   */
  *children<N extends Name<Of, readonly object[]>>(
    name: N,
  ): Generator<Fields<Element<Of[N & keyof Of]>>, void> {
    const list = this.#list(name);
    for (let i = 0; i < list.length; i++) {
      const value = list[i];
      if (isRecord(value)) yield this.#at(value, name, i);
      else this.report(`${name}[${i}]`, 'must be an object', value);
    }
  }

  /** Text without surrounding space, or the default when absent. */
  text(name: Name<Of, string>, absent = ''): string {
    const value = this.#values[name];
    if (isAbsent(value)) return absent;
    if (typeof value === 'string') return value.trim();
    this.report(name, 'must be text');
    return absent;
  }

  /** A name, without surrounding space; empty when absent, undefined when it breaks the rule. */
  name(name: Name<Of, string>, rule: NameRule): string | undefined {
    const text = this.text(name);
    return text === '' || isName(text, rule) ? text : this.report(name, rule.text);
  }

  /** The texts of a list, unchanged; any other value is reported. */
  texts(name: Name<Of, readonly string[]>): string[] {
    return this.#list(name).flatMap((value, i) => {
      if (typeof value === 'string') return [value];
      this.report(`${name}[${i}]`, 'must be text', value);
      return [];
    });
  }

  /** Names of the fields that are present. */
  names(): string[] {
    return Object.keys(this.#values);
  }

  /** One of a few words, or the default when absent or empty, as in Go; undefined when it is another. */
  word<T extends string>(name: Name<Of, string>, words: readonly T[], absent: T): T | undefined {
    const value = this.#values[name];
    if (isAbsent(value) || value === '') return absent;
    const found = words.find((word) => word === value);
    return found ?? this.report(name, `must be ${listWords(words)}`);
  }

  /** Those of a list that are among a few words; others are reported. */
  words<T extends string>(name: Name<Of, readonly string[]>, words: readonly T[]): T[] {
    const find = (text: string) => words.find((word) => word === text);
    return this.#texts(name, find, `must be ${listWords(words)}`) as T[];
  }

  /** A condition, or the default when absent. */
  flag(name: Name<Of, boolean>, absent: boolean): boolean {
    const value = this.#values[name];
    if (isAbsent(value)) return absent;
    if (typeof value === 'boolean') return value;
    this.report(name, 'must be true or false');
    return absent;
  }

  /** Whether a number is present and is not 0: in Go, both are the same. */
  hasNumber(name: Name<Of, number>): boolean {
    return this.has(name) && this.#values[name] !== 0;
  }

  /** A whole number within bounds, or the default when absent; undefined for any other value. */
  integer(name: Name<Of, number>, min: number, max: number, absent?: number): number | undefined {
    const value = this.#values[name];
    if (isAbsent(value) && absent !== undefined) return absent;
    return isIntegerWithin(value, min, max) ? value : this.report(name, integerRule(min, max));
  }

  /** A point in time, in ms since 1970; undefined when absent. A client library may have made a Date of its text. */
  time(name: Name<Of, string | Date>): number | undefined {
    const value = this.#values[name];
    if (isAbsent(value)) return undefined;
    const time =
      typeof value === 'string' ? Date.parse(value) : value instanceof Date ? value.getTime() : Number.NaN;
    return Number.isNaN(time) ? this.report(name, 'must be a time as in RFC 3339') : time;
  }

  /** `TCP`, `UDP` or `SCTP`, by default TCP. */
  protocol(name: Name<Of, string>): Protocol | undefined {
    const word = this.word(name, ['TCP', 'UDP', 'SCTP'], 'TCP');
    return word && PROTOCOLS[word];
  }

  /** A canonical address; undefined when absent, empty or none. */
  address(name: Name<Of, string>): string | undefined {
    const text = this.text(name);
    if (text === '') return undefined;
    return canonicalAddress(text) ?? this.report(name, ADDRESS_RULE);
  }

  /** The first text of a list of addresses that must have one, without surrounding space; undefined for any other value. */
  firstAddress(name: Name<Of, readonly string[]>): string | undefined {
    const first = this.#list(name)[0];
    if (first === undefined) return this.report(name, 'must hold an address');
    return typeof first === 'string' ? first.trim() : this.report(`${name}[0]`, ADDRESS_RULE, first);
  }

  /**
   * Reports that the text that {@link firstAddress} returned is not an address, or not one of the family.
   *
   * @param rule the rule that an address of the other family breaks
   */
  refuseFirstAddress(name: Name<Of, readonly string[]>, text: string, rule: string): undefined {
    const address = canonicalAddress(text);
    return this.report(
      `${name}[0]`,
      address === undefined ? ADDRESS_RULE : rule,
      address ?? this.#list(name)[0],
    );
  }

  /** The canonical addresses of a list. Blank values are passed over; any other value is reported. */
  addresses(name: Name<Of, readonly string[]>): readonly string[] {
    return this.#texts(name, (text) => canonicalAddress(text), ADDRESS_RULE);
  }

  /** The same, without addresses of a special use, which are reported. */
  unicastAddresses(name: Name<Of, readonly string[]>): readonly string[] {
    const addresses = this.addresses(name);
    if (!addresses.some(specialUse)) return addresses;
    for (const [i, value] of this.#list(name).entries()) {
      const address = typeof value === 'string' ? canonicalAddress(value.trim()) : undefined;
      if (address !== undefined) this.unicast(`${name}[${i}]`, address);
    }
    return addresses.filter((address) => specialUse(address) === undefined);
  }

  /** An address that was read, unless it has a special use: that is reported. @param allowed a use that is no problem */
  unicast(name: string, address: string, allowed?: SpecialUse): string | undefined {
    const use = specialUse(address);
    if (use === undefined || use === allowed) return address;
    return this.refuse(
      name,
      `must be a unicast address that clients can use, and not ${ARTICLES[use]} address`,
      address,
    );
  }

  /** The canonical, masked networks of a list. */
  networks(name: Name<Of, readonly string[]>): readonly string[] {
    return this.#texts(name, canonicalNetwork, 'must be a network in CIDR notation');
  }

  #texts(name: string, read: (text: string) => string | undefined, rule: string): readonly string[] {
    const list = this.#list(name);
    if (list.length === 0) return NO_VALUES;
    // No list for each value: there may be a hundred thousand.
    const found: string[] = [];
    for (let i = 0; i < list.length; i++) {
      const value = list[i];
      if (isAbsent(value)) continue;
      const text = typeof value === 'string' ? value.trim() : undefined;
      if (text === '') continue;
      const result = text === undefined ? undefined : read(text);
      if (result === undefined) this.report(`${name}[${i}]`, rule, value);
      else found.push(result);
    }
    // An array that grew by push() has unused space, and these arrays stay.
    return found.slice();
  }

  #list(name: string): readonly unknown[] {
    const value = this.#values[name];
    if (isAbsent(value)) return NO_VALUES;
    if (Array.isArray(value)) return value;
    this.report(name, 'must be a list');
    return NO_VALUES;
  }

  #at<Type>(values: Untyped, name: string, index?: number): Fields<Type> {
    return new Fields<Type>(this.#object, this.#problems, values, this as unknown as Fields, name, index);
  }

  /** `spec.ports[0].`. */
  #path(): string {
    if (!this.#parent) return '';
    const index = this.#index < 0 ? '' : `[${this.#index}]`;
    return `${this.#parent.#path()}${this.#name}${index}.`;
  }
}

const NO_VALUES: readonly never[] = Object.freeze([]);

/** Null counts as absent. */
function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

const ARTICLES: Readonly<Record<SpecialUse, string>> = {
  unspecified: 'the unspecified',
  loopback: 'a loopback',
  'link-local': 'a link-local',
  multicast: 'a multicast',
  broadcast: 'the broadcast',
};

const ADDRESS_RULE = 'must be an IPv4 or IPv6 address';

/** Protocols by their name in the API. */
const PROTOCOLS = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const satisfies Record<string, Protocol>;

/** Whether a problem is one of {@link Fields.refuse}. */
function isRefusal({ reason }: Problem): boolean {
  return reason === 'FieldLeftOut';
}

/** The problem of a part, or of an object, whose last readable value stays in use. */
export function kept(problem: Problem): Problem {
  if (problem.reason === 'LastReadableKept') return problem;
  return {
    ...problem,
    rule: `${problem.rule} (the last readable value stays in use)`,
    reason: 'LastReadableKept',
  };
}

function isNothing(part: unknown): boolean {
  if (part === undefined || part === '') return true;
  return (
    typeof part === 'object' &&
    part !== null &&
    ('length' in part ? part.length : 'size' in part && part.size) === 0
  );
}

/** Whether a value is an object with fields: no list, no null. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
