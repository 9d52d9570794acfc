// Reads fields of an untrusted object. Every value that breaks a rule becomes a Problem that names it, and reads as
// undefined: the caller goes on with what is left.
import type { Problem } from '../errors.js';
import { canonicalAddress } from '../net/address.js';
import { formatNetwork, parseNetwork } from '../net/network.js';
import { PROTOCOL_NUMBERS, type Protocol } from '../net/protocol.js';

/** An object's fields, with the path that leads to them. */
export class Fields {
  readonly #object: string;
  readonly #problems: Problem[];
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #path: string;

  constructor(object: string, problems: Problem[], values: Readonly<Record<string, unknown>>, path = '') {
    this.#object = object;
    this.#problems = problems;
    this.#values = values;
    this.#path = path;
  }

  /** Notes that a field breaks a rule. */
  report(name: string, rule: string, value: unknown = this.#values[name]): undefined {
    const shown = value === undefined ? {} : { value };
    this.#problems.push({ object: this.#object, field: this.#path + name, rule, ...shown });
    return undefined;
  }

  /**
   * Reads a part of the object. Where the part breaks a rule and nothing of it can be read, its last readable value stays,
   * and the problems say so.
   *
   * @param former the last readable value; undefined or empty for none
   */
  orFormer<T>(read: () => T, former: T | undefined): T {
    return this.restoring(read, (part) => (isNothing(part) && !isNothing(former) ? former : undefined));
  }

  /**
   * The same for a part of which some may be readable: `restore` takes that and returns the whole, or undefined to leave
   * it.
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

  has(name: string): boolean {
    return this.#values[name] !== undefined && this.#values[name] !== null;
  }

  /** A nested object; an absent one has no fields. */
  child(name: string): Fields {
    const value = this.#values[name];
    if (!this.has(name)) return this.#at(`${name}.`, {});
    if (!isRecord(value)) {
      this.report(name, 'must be an object');
      return this.#at(`${name}.`, {});
    }
    return this.#at(`${name}.`, value);
  }

  /** The objects of a list, each with its index in the path; absent means empty. */
  children(name: string): Fields[] {
    return this.#list(name).flatMap((value, i) => {
      if (isRecord(value)) return [this.#at(`${name}[${i}].`, value)];
      this.report(`${name}[${i}]`, 'must be an object', value);
      return [];
    });
  }

  /** Text, or the default when absent; surrounding space is dropped. */
  text(name: string, absent = ''): string {
    const value = this.#values[name];
    if (!this.has(name)) return absent;
    if (typeof value === 'string') return value.trim();
    this.report(name, 'must be text');
    return absent;
  }

  /** The texts of a list, as they stand; what is no text is reported. */
  texts(name: string): string[] {
    return this.#list(name).flatMap((value, i) => {
      if (typeof value === 'string') return [value];
      this.report(`${name}[${i}]`, 'must be text', value);
      return [];
    });
  }

  /** Names of the fields that are there. */
  names(): string[] {
    return Object.keys(this.#values);
  }

  /** One of a few words, or the default when absent; undefined when it is another. */
  word<T extends string>(name: string, words: readonly T[], absent: T): T | undefined {
    if (!this.has(name)) return absent;
    const value = this.#values[name];
    const found = words.find((word) => word === value);
    return found ?? this.report(name, `must be ${listWords(words)}`);
  }

  /** Those of a list that are among a few words; others are reported. */
  words<T extends string>(name: string, words: readonly T[]): T[] {
    const find = (text: string) => words.find((word) => word === text);
    return this.#texts(name, find, `must be ${listWords(words)}`) as T[];
  }

  /** A condition; absent reads as the default. */
  flag(name: string, absent: boolean): boolean {
    const value = this.#values[name];
    if (!this.has(name)) return absent;
    if (typeof value === 'boolean') return value;
    this.report(name, 'must be true or false');
    return absent;
  }

  /** A whole number within bounds, or the default when absent; undefined when it is none. */
  integer(name: string, min: number, max: number, absent?: number): number | undefined {
    const value = this.#values[name];
    if (!this.has(name) && absent !== undefined) return absent;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    return this.report(name, `must be an integer from ${min} to ${max}`);
  }

  /** `TCP`, `UDP` or `SCTP`, by default TCP. */
  protocol(name: string): Protocol | undefined {
    const words = Object.keys(PROTOCOL_NUMBERS).map((protocol) => protocol.toUpperCase());
    return this.word(name, words, 'TCP')?.toLowerCase() as Protocol | undefined;
  }

  /** A canonical address; undefined when absent, empty or none. */
  address(name: string): string | undefined {
    const text = this.text(name);
    if (text === '') return undefined;
    return canonicalAddress(text) ?? this.report(name, ADDRESS_RULE);
  }

  /** The first address of a list that must have one; undefined when it has none or it is no address. */
  firstAddress(name: string): string | undefined {
    const first = this.#list(name)[0];
    if (first === undefined) return this.report(name, 'must hold an address');
    const address = typeof first === 'string' ? canonicalAddress(first.trim()) : undefined;
    return address ?? this.report(`${name}[0]`, ADDRESS_RULE, first);
  }

  /** The canonical addresses of a list; blank ones are passed over, others that are none are reported. */
  addresses(name: string): string[] {
    return this.#texts(name, (text) => canonicalAddress(text), ADDRESS_RULE);
  }

  /** The canonical, masked networks of a list. */
  networks(name: string): string[] {
    return this.#texts(
      name,
      (text) => {
        const network = parseNetwork(text);
        return network && formatNetwork(network);
      },
      'must be a network in CIDR notation',
    );
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
    if (!this.has(name)) return [];
    if (Array.isArray(value)) return value;
    this.report(name, 'must be a list');
    return [];
  }

  #at(step: string, values: Readonly<Record<string, unknown>>): Fields {
    return new Fields(this.#object, this.#problems, values, this.#path + step);
  }
}

const ADDRESS_RULE = 'must be an IPv4 or IPv6 address';

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
  return part === undefined || part === '' || (Array.isArray(part) && part.length === 0);
}

/** Whether a value is an object with fields: no list, no null. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
