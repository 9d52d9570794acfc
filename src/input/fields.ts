// Reads fields of an untrusted object. Every value that breaks a rule becomes a Problem that names it, and reads as
// undefined: the caller uses the rest.
import type { Problem } from '../errors.js';
import { canonicalAddress } from '../net/address.js';
import { formatNetwork, parseNetwork } from '../net/network.js';
import type { Protocol } from '../net/protocol.js';

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

/**
 * An object's fields, with the path that leads to them. `Of` is the type that the object should have: the compiler checks
 * the names of the fields that are read, and which method reads them. At run time nothing is believed.
 */
export class Fields<Of = Untyped> {
  readonly #object: string;
  readonly #problems: Problem[];
  readonly #values: Untyped;
  readonly #path: string;

  constructor(object: string, problems: Problem[], values: Untyped, path = '') {
    this.#object = object;
    this.#problems = problems;
    this.#values = values;
    this.#path = path;
  }

  /** The same fields, read as those of a type. */
  as<Type>(): Fields<Type> {
    return this as unknown as Fields<Type>;
  }

  /** The fields as they are, unchecked. */
  get values(): Untyped {
    return this.#values;
  }

  /** Reports that a field breaks a rule. */
  report(name: string, rule: string, value: unknown = this.#values[name]): undefined {
    const shown = value === undefined ? {} : { value };
    this.#problems.push({ object: this.#object, field: this.#path + name, rule, ...shown });
    return undefined;
  }

  /**
   * Reads a part of the object. If the part breaks a rule and nothing of it is readable, its last readable value is used,
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
    const first = this.#problems.length;
    const part = read();
    if (this.#problems.length === first) return part;
    const restored = restore(part);
    if (restored === undefined) return part;
    this.#problems.splice(first, Number.POSITIVE_INFINITY, ...this.#problems.slice(first).map(kept));
    return restored;
  }

  /** Whether a field is present; null counts as absent. */
  has(name: keyof Of & string): boolean {
    return this.#has(name);
  }

  /** A nested object; an absent one has no fields. */
  child<N extends Name<Of, object>>(name: N): Fields<Child<Of[N & keyof Of]>> {
    const value = this.#values[name];
    if (!this.#has(name)) return this.#at(`${name}.`, {});
    if (!isRecord(value)) {
      this.report(name, 'must be an object');
      return this.#at(`${name}.`, {});
    }
    return this.#at(`${name}.`, value);
  }

  /** The objects of a list, each with its index in the path; absent means empty. */
  children<N extends Name<Of, readonly object[]>>(name: N): Fields<Element<Of[N & keyof Of]>>[] {
    return this.#list(name).flatMap((value, i) => {
      if (isRecord(value)) return [this.#at<Element<Of[N & keyof Of]>>(`${name}[${i}].`, value)];
      this.report(`${name}[${i}]`, 'must be an object', value);
      return [];
    });
  }

  /** Text without surrounding space, or the default when absent. */
  text(name: Name<Of, string>, absent = ''): string {
    const value = this.#values[name];
    if (!this.#has(name)) return absent;
    if (typeof value === 'string') return value.trim();
    this.report(name, 'must be text');
    return absent;
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

  /** One of a few words, or the default when absent; undefined when it is another. */
  word<T extends string>(name: Name<Of, string>, words: readonly T[], absent: T): T | undefined {
    if (!this.#has(name)) return absent;
    const value = this.#values[name];
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
    if (!this.#has(name)) return absent;
    if (typeof value === 'boolean') return value;
    this.report(name, 'must be true or false');
    return absent;
  }

  /** A whole number within bounds, or the default when absent; undefined for any other value. */
  integer(name: Name<Of, number>, min: number, max: number, absent?: number): number | undefined {
    const value = this.#values[name];
    if (!this.#has(name) && absent !== undefined) return absent;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    return this.report(name, `must be an integer from ${min} to ${max}`);
  }

  /** A point in time, in ms since 1970; undefined when absent. A client library may have made a Date of its text. */
  time(name: Name<Of, string | Date>): number | undefined {
    const value = this.#values[name];
    if (!this.#has(name)) return undefined;
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

  /** The first address of a list that must have one; undefined when the list is empty or the value is no address. */
  firstAddress(name: Name<Of, readonly string[]>): string | undefined {
    const first = this.#list(name)[0];
    if (first === undefined) return this.report(name, 'must hold an address');
    const address = typeof first === 'string' ? canonicalAddress(first.trim()) : undefined;
    return address ?? this.report(`${name}[0]`, ADDRESS_RULE, first);
  }

  /** The canonical addresses of a list. Blank values are passed over; any other value is reported. */
  addresses(name: Name<Of, readonly string[]>): string[] {
    return this.#texts(name, (text) => canonicalAddress(text), ADDRESS_RULE);
  }

  /** The canonical, masked networks of a list. */
  networks(name: Name<Of, readonly string[]>): string[] {
    return this.#texts(
      name,
      (text) => {
        const network = parseNetwork(text);
        return network && formatNetwork(network);
      },
      'must be a network in CIDR notation',
    );
  }

  #has(name: string): boolean {
    return this.#values[name] !== undefined && this.#values[name] !== null;
  }

  #texts(name: string, read: (text: string) => string | undefined, rule: string): string[] {
    return this.#list(name).flatMap((value, i) => {
      if (typeof value === 'string' && value.trim() === '') return [];
      const result = typeof value === 'string' ? read(value.trim()) : undefined;
      if (result !== undefined) return [result];
      this.report(`${name}[${i}]`, rule, value);
      return [];
    });
  }

  #list(name: string): readonly unknown[] {
    const value = this.#values[name];
    if (!this.#has(name)) return [];
    if (Array.isArray(value)) return value;
    this.report(name, 'must be a list');
    return [];
  }

  #at<Type>(step: string, values: Untyped): Fields<Type> {
    return new Fields<Type>(this.#object, this.#problems, values, this.#path + step);
  }
}

const ADDRESS_RULE = 'must be an IPv4 or IPv6 address';

/** Protocols by their name in the API. */
const PROTOCOLS = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const satisfies Record<string, Protocol>;

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
