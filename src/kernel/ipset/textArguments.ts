// Arguments of the functions that read and write ipset's text: what breaks a rule is refused, not printed or passed over.
import { argumentError, checkObject, type Fault, findUnknown } from '../arguments.js';
import { RecordWriter } from '../recordWriter.js';
import { definitionFor } from './definition.js';
import { OPERATION } from './layouts.js';
import { findReferenceFault, writeOperation } from './records.js';
import type { IpsetOperation, SetEntry, SetHeader, SetReference } from './types.js';

/** Options of {@link parseSets}. */
export interface ParseOptions {
  /** Sets that exist: `add` and `del` lines for sets without a `create` line before them need the type. */
  readonly sets?: Iterable<SetReference>;
  /** True: operations are strict, as in `ipset restore`. Default false, as in `ipset -exist restore`. */
  readonly strict?: boolean;
}

const PARSE_OPTIONS: ReadonlySet<string> = new Set(['sets', 'strict']);

/** Throws the error of parseSets() with these arguments. Returns the options. */
export function checkParsing(text: unknown, options: ParseOptions): ParseOptions {
  const operation = 'ipset.parseSets';
  const refuse = (field: string, value: unknown, rule: string) => {
    throw argumentError(operation, { field, value, rule, wrongType: true });
  };
  if (typeof text !== 'string') refuse('text', text, 'must be a string');
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
    const fault = findReferenceFault(set);
    if (fault)
      throw argumentError(operation, { ...fault, field: fault.field.replace(/^set\b/, `sets[${i}]`) });
  }
  return { ...options, sets: read };
}

/** Checks the sets of formatSets(), one after another. */
export class SavedChecker {
  readonly #operation = 'ipset.formatSets';
  readonly #writer = new RecordWriter(OPERATION.SIZE, 1);

  constructor(sets: unknown) {
    if (isIterable(sets)) return;
    throw this.#error({ field: 'sets', value: sets, rule: 'must be an iterable of sets', wrongType: true });
  }

  /** Throws the error of a set with entries that breaks a rule, or that has attributes for which ipset has no words. */
  set(saved: { readonly set: unknown; readonly entries: unknown }): void {
    checkObject(this.#operation, 'sets', saved);
    const [unknown] = Object.keys(saved).filter((field) => field !== 'set' && field !== 'entries');
    if (unknown !== undefined) {
      const value = saved[unknown as keyof typeof saved];
      throw this.#error({ field: unknown, value, rule: 'is no field of a saved set', wrongType: true });
    }
    if (!isIterable(saved.entries)) {
      const rule = 'must be an iterable of entries';
      throw this.#error({ field: 'entries', value: saved.entries, rule, wrongType: true });
    }
    definitionFor(saved.set as SetHeader, this.#operation);
  }

  /** The same of an entry of that set, at a place among its entries. */
  entry(set: unknown, entry: SetEntry, place: number): void {
    const writer = this.#writer;
    writeOperation({ do: 'add', set, entry } as IpsetOperation, writer);
    const fault = writer.finish();
    writer.reset();
    if (fault) throw this.#error({ ...fault, field: fault.field.replace(/^entry\b/, `entries[${place}]`) });
  }

  #error(fault: Fault): TypeError | RangeError {
    return argumentError(this.#operation, fault);
  }
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}
