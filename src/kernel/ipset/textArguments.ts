// Arguments of the functions that read and write ipset's text: what breaks a rule is refused, not printed or passed over.
import { argumentError, checkObject, findUnknown, type InvalidValue } from '../shared/arguments.js';
import { isAsyncIterable, isIterable } from '../shared/programs/textLines.js';
import { RecordWriter } from '../shared/records/recordWriter.js';
import { definitionFor } from './definition.js';
import { OPERATION } from './layouts.js';
import { findInvalidReference, writeOperation } from './records.js';
import type { IpsetOperation, SetEntry, SetHeader, SetReference } from './types.js';

/** Options of {@link parseSets}. */
export interface ParseOptions {
  /** Sets that exist: `add` and `del` lines for sets without a `create` line before them need the type. */
  readonly sets?: Iterable<SetReference>;
  /** True: operations are strict, as in `ipset restore`. Default false, as in `ipset -exist restore`. */
  readonly strict?: boolean;
}

const PARSE_OPTIONS: ReadonlySet<string> = new Set(['sets', 'strict']);

/** Throws the error of a call that reads a text with these options. Returns them. */
export function checkParsing(options: ParseOptions, operation: string): ParseOptions {
  const refuse = (field: string, value: unknown, rule: string) => {
    throw argumentError(operation, { field, value, rule, wrongType: true });
  };
  checkObject(operation, 'options', options);
  const unknown = findUnknown(options, PARSE_OPTIONS);
  if (unknown) throw argumentError(operation, unknown);
  const { sets, strict } = options;
  if (strict !== undefined && typeof strict !== 'boolean') refuse('strict', strict, 'must be true or false');
  if (sets === undefined) return options;
  if (!isIterable(sets)) refuse('sets', sets, 'must be an iterable of sets');
  // An iterable may be read only once.
  const read = [...sets];
  for (const [i, set] of read.entries()) {
    const invalid = findInvalidReference(set);
    if (invalid)
      throw argumentError(operation, { ...invalid, field: invalid.field.replace(/^set\b/, `sets[${i}]`) });
  }
  return { ...options, sets: read };
}

/** Checks sets that are written, one after another. */
export class SavedChecker {
  readonly #operation: string;
  readonly #isListed: boolean;
  readonly #writer = new RecordWriter(OPERATION.SIZE, 1);

  /**
   * @param operation the call, in errors
   * @param isListed whether sets and entries may also be asynchronous, as listings are
   */
  constructor(sets: unknown, operation: string, isListed = false) {
    this.#operation = operation;
    this.#isListed = isListed;
    if (this.#isSequence(sets)) return;
    throw this.#error({ field: 'sets', value: sets, rule: 'must be an iterable of sets', wrongType: true });
  }

  /** Throws the error of a set with entries that breaks a rule, or that has attributes for which ipset has no words. */
  set(saved: { readonly set: unknown; readonly entries: unknown }): void {
    checkObject(this.#operation, 'sets', saved);
    const [unknown] = Object.keys(saved).filter((field) => field !== 'set' && field !== 'entries');
    if (unknown !== undefined) {
      const value = saved[unknown as keyof typeof saved];
      throw this.#error({ field: unknown, value, rule: 'is not a field of a saved set', wrongType: true });
    }
    if (!this.#isSequence(saved.entries)) {
      const rule = 'must be an iterable of entries';
      throw this.#error({ field: 'entries', value: saved.entries, rule, wrongType: true });
    }
    definitionFor(saved.set as SetHeader, this.#operation);
  }

  /** The same of an entry of that set, at a place among its entries. */
  entry(set: unknown, entry: SetEntry, place: number): void {
    const writer = this.#writer;
    writeOperation({ do: 'add', set, entry } as IpsetOperation, writer);
    const invalid = writer.finish();
    writer.reset();
    if (invalid)
      throw this.#error({ ...invalid, field: invalid.field.replace(/^entry\b/, `entries[${place}]`) });
  }

  #isSequence(value: unknown): boolean {
    return isIterable(value) || (this.#isListed && isAsyncIterable(value));
  }

  #error(invalid: InvalidValue): TypeError | RangeError {
    return argumentError(this.#operation, invalid);
  }
}
