// The rules of values: the first that is broken is noted.
import {
  hasFields,
  type InvalidValue,
  integerRule,
  isIntegerWithin,
  objectRule,
} from '../shared/arguments.js';

/** Checks values: notes the first invalid one. */
export class Checker {
  invalid: InvalidValue | undefined;

  /** Notes an invalid value, unless there is one already. `field` is the path of the value. */
  fail(field: string, value: unknown, rule: string, wrongType = false): void {
    this.invalid ??= { field, value, rule, wrongType };
  }

  /** Refuses fields that are not among the known ones. `path` ends with a dot, or is empty; `kind` has an article. */
  onlyFields(path: string, value: object, known: { has(field: string): boolean }, kind: string): void {
    for (const field in value) {
      if (known.has(field)) continue;
      this.fail(`${path}${field}`, value[field as keyof object], `is not a field of ${kind}`, true);
      return;
    }
  }

  /** Whether a value is an object; else the value is noted. */
  isObject(path: string, value: unknown): value is object {
    const ok = hasFields(value);
    if (!ok) this.fail(path, value, objectRule(value), true);
    return ok;
  }

  /** The value if it is an integer within bounds, else 0, and the value is noted. */
  integer(path: string, value: unknown, least: number, most: number): number {
    if (isIntegerWithin(value, least, most)) return value;
    this.fail(path, value, integerRule(least, most), typeof value !== 'number');
    return 0;
  }
}
