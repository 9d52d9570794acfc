// The rules of values that are written: the first that is broken is noted.
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
