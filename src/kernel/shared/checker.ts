// The rules of values that are written: the first that is broken is noted.
import { type IpProtocol, PROTOCOL_NUMBERS, type Protocol } from '../net/protocol.js';
import { hasFields, type InvalidValue, integerRule, isIntegerWithin, objectRule } from './arguments.js';

/** Checks values: notes the first invalid one. */
export class Checker {
  /** The first invalid value. */
  invalid: InvalidValue | undefined;

  /** Notes an invalid value, unless there is one already. `field` is the path of the value. */
  fail(field: string, value: unknown, rule: string, wrongType = false): void {
    this.invalid ??= { field, value, rule, wrongType };
  }

  /** The value if it is an integer within bounds, else 0, and the value is noted. `path` names the value. */
  integer(path: string, value: unknown, least: number, most: number): number {
    if (isIntegerWithin(value, least, most)) return value;
    this.fail(path, value, integerRule(least, most), typeof value !== 'number');
    return 0;
  }

  /** The number that stands for one of the names. */
  choice<Name extends string>(path: string, value: unknown, choices: Readonly<Record<Name, number>>): number {
    // What an object inherits is not a number. Object.hasOwn() takes several times as long.
    const number: unknown = typeof value === 'string' ? choices[value as Name] : undefined;
    if (typeof number === 'number') return number;
    const rule = `must be one of ${Object.keys(choices).join(', ')}`;
    this.fail(path, value, rule, typeof value !== 'string');
    return 0;
  }

  /** The number of an IP protocol. */
  protocol(path: string, value: IpProtocol | undefined): number {
    if (typeof value === 'number') return this.integer(path, value, 1, 255);
    const number: unknown = typeof value === 'string' ? PROTOCOL_NUMBERS[value as Protocol] : undefined;
    if (typeof number === 'number') return number;
    const rule = `must be one of ${Object.keys(PROTOCOL_NUMBERS).join(', ')}, or a number from 1 to 255`;
    this.fail(path, value, rule, typeof value !== 'string');
    return 0;
  }

  /** Whether a value is an object; else the value is noted. */
  isObject(path: string, value: unknown): value is object {
    const ok = hasFields(value);
    if (!ok) this.fail(path, value, objectRule(value), true);
    return ok;
  }

  /**
   * Refuses unknown fields: if they were ignored, the caller would not notice that they have no effect. `path` is the path
   * of the object with a dot at its end, or empty, `kind` names it with its article: `an entry`.
   */
  onlyFields(path: string, object: object, known: { has(field: string): boolean }, kind: string): void {
    for (const field in object) {
      if (known.has(field)) continue;
      this.fail(`${path}${field}`, object[field as keyof object], `is not a field of ${kind}`, true);
      return;
    }
  }

  /** Whether a value is an object, see {@link isObject}, of which unknown fields are noted. */
  object(
    path: string,
    value: unknown,
    known: { has(field: string): boolean },
    kind: string,
  ): value is object {
    if (!this.isObject(path, value)) return false;
    this.onlyFields(`${path}.`, value, known, kind);
    return true;
  }
}
