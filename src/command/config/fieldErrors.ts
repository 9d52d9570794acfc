// Errors of fields in Kubernetes' words.
import { shortened } from '../../kernel/errors.js';
import { formatDuration } from './duration.js';
import { quote } from './goSyntax.js';

const NOT_NEGATIVE = 'must be greater than or equal to 0';

/** Collects errors below one field path. */
export class FieldErrors {
  /** One for each error. */
  readonly lines: string[] = [];
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Kubernetes' `field.Invalid`. */
  invalid(field: string, value: unknown, rule: string): void {
    const shown = typeof value === 'string' ? quote(shortened(value)) : shortened(JSON.stringify(value));
    this.lines.push(`${this.#path}.${field}: Invalid value: ${shown}: ${rule}`);
  }

  /** Kubernetes' `field.Forbidden`, `field.Required` and `field.NotSupported`. */
  other(field: string, type: string, rule: string): void {
    this.lines.push(`${this.#path}.${field}: ${type}: ${rule}`);
  }

  /** The rule of numbers that may be 0. */
  atLeastZero(field: string, value: number): void {
    if (value < 0) this.invalid(field, value, NOT_NEGATIVE);
  }

  /** The rule of durations that may be 0. */
  durationAtLeastZero(field: string, milliseconds: number): void {
    if (milliseconds < 0) this.invalid(field, formatDuration(milliseconds), NOT_NEGATIVE);
  }
}
