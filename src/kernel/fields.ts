// Writes values into the fixed-size records that cross to the addon, and finds what is wrong with them on the way.
import { inspect } from 'node:util';
import { NetlinkError } from '../errors.js';
import { type Family, readAddress } from '../net/address.js';
import { type IpProtocol, PROTOCOL_NUMBERS, type Protocol } from '../net/protocol.js';
import type { Attempt } from './failures.js';

/** A rule that a value breaks. */
export interface Fault {
  /** Path of the field: `realServer.weight`. */
  readonly field: string;
  readonly value: unknown;
  /** `must be an integer from 0 to 65535`. */
  readonly rule: string;
  /** Whether the value is not even of the right type. */
  readonly wrongType: boolean;
}

const encoder = new TextEncoder();

/**
 * Writes records of one size, one after another. The first fault of a record sticks, and what is written after it does
 * not matter: {@link finish} tells the fault and takes the record back.
 */
export class RecordWriter {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #size: number;
  #start = 0;
  #fault: Fault | undefined;

  /** Room for `count` records of `size` bytes. */
  constructor(size: number, count: number) {
    this.#bytes = new Uint8Array(size * count);
    this.#view = new DataView(this.#bytes.buffer);
    this.#size = size;
  }

  /** A number that needs no check. */
  u8(offset: number, value: number): void {
    this.#view.setUint8(this.#start + offset, value);
  }

  u16(offset: number, value: number): void {
    this.#view.setUint16(this.#start + offset, value, true);
  }

  u32(offset: number, value: number): void {
    this.#view.setUint32(this.#start + offset, value, true);
  }

  /** The value if it is an integer within bounds, else 0 and a fault. */
  integer(field: string, value: unknown, least: number, most: number): number {
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) {
      return value as number;
    }
    this.fail(field, value, `must be an integer from ${least} to ${most}`, typeof value !== 'number');
    return 0;
  }

  /** The number that stands for one of the names. */
  choice<Name extends string>(
    field: string,
    value: unknown,
    choices: Readonly<Partial<Record<Name, number>>>,
  ): number {
    const number = Object.hasOwn(choices, value as Name) ? choices[value as Name] : undefined;
    if (number !== undefined) return number;
    const rule = `must be one of ${Object.keys(choices).join(', ')}`;
    this.fail(field, value, rule, typeof value !== 'string');
    return 0;
  }

  /** The number of an IP protocol. */
  protocol(field: string, value: IpProtocol | undefined): number {
    if (typeof value === 'number') return this.integer(field, value, 1, 255);
    if (Object.hasOwn(PROTOCOL_NUMBERS, value as string)) return PROTOCOL_NUMBERS[value as Protocol];
    const rule = `must be one of ${Object.keys(PROTOCOL_NUMBERS).join(', ')}, or a number from 1 to 255`;
    this.fail(field, value, rule, typeof value !== 'string');
    return 0;
  }

  /**
   * Refuses fields that are not known: passed over, they would be lost without a word. `path` is that of the object with
   * a dot at its end, `kind` names it with its article: `an entry`.
   */
  onlyFields(path: string, object: unknown, known: ReadonlySet<string>, kind: string): void {
    if (typeof object !== 'object') return; // for the checks of its fields to find
    for (const field in object) {
      if (known.has(field)) continue;
      this.fail(`${path}${field}`, object?.[field as keyof object], `is no field of ${kind}`, true);
      return;
    }
  }

  /** Text of 1 to `longest` bytes in UTF-8, without NUL; the record has at least one byte more. */
  text(field: string, value: unknown, longest: number, offset: number): void {
    const start = this.#start + offset;
    if (typeof value === 'string' && value !== '' && !value.includes('\0')) {
      const room = this.#bytes.subarray(start, start + longest);
      if (encoder.encodeInto(value, room).read === value.length) return;
    }
    this.fail(field, value, `must be a name of 1 to ${longest} bytes`, typeof value !== 'string');
  }

  /** An address, in 16 bytes at `offset`; returns its family. */
  address(field: string, value: unknown, offset: number): Family {
    const start = this.#start + offset;
    const family = typeof value === 'string' ? readAddress(value, this.#bytes, start) : undefined;
    if (family !== undefined) return family;
    this.fail(field, value, 'must be an IPv4 or IPv6 address', typeof value !== 'string');
    return 4;
  }

  /** Notes a fault, unless there is one already. */
  fail(field: string, value: unknown, rule: string, wrongType = false): void {
    this.#fault ??= { field, value, rule, wrongType };
  }

  /** Ends a record; returns what is wrong with it, in which case the next one takes its place. */
  finish(): Fault | undefined {
    const fault = this.#fault;
    this.#fault = undefined;
    if (fault) this.#bytes.fill(0, this.#start, this.#start + this.#size);
    else this.#start += this.#size;
    return fault;
  }

  /** Forgets the records written so far: the next one takes the place of the first. */
  reset(): void {
    this.#bytes.fill(0, 0, this.#start);
    this.#start = 0;
  }

  /** The records written so far. */
  records(): Uint8Array {
    return this.#bytes.subarray(0, this.#start);
  }
}

/** The first option that is not among the known ones. */
export function findUnknown(options: object, known: ReadonlySet<string>): Fault | undefined {
  for (const [field, value] of Object.entries(options)) {
    if (!known.has(field)) return { field, value, rule: 'is no option', wrongType: true };
  }
  return undefined;
}

/** `realServer.weight must be an integer from 0 to 2147483647, found -1`. */
export function describeFault(fault: Fault): string {
  return `${fault.field} ${fault.rule}, found ${inspect(fault.value, { depth: 0, breakLength: Infinity })}`;
}

/** What a verb rejects with when an argument breaks a rule: TypeError or RangeError. */
export function argumentError(operation: string, fault: Fault): TypeError | RangeError {
  const message = `${operation}: ${describeFault(fault)}`;
  return fault.wrongType ? new TypeError(message) : new RangeError(message);
}

/** What such an operation results in within a batch, where it must not hide the others' results. */
export function invalidOperation(attempt: Attempt, fault: Fault): NetlinkError {
  return new NetlinkError({
    code: 'ERR_INVALID_ARGUMENT',
    operation: attempt.operation,
    target: attempt.target,
    kernelMessage: describeFault(fault),
  });
}

/** The one record of a writer; throws when it broke a rule. */
export function onlyRecord(writer: RecordWriter, operation: string): Uint8Array {
  const fault = writer.finish();
  if (fault) throw argumentError(operation, fault);
  return writer.records();
}
