// Messages of one operation, one behind another: headers, and the fields that many of them have.
import { isIntegerWithin } from '../../shared/arguments.js';
import { Checker } from '../../shared/checker.js';
import type { ByteWriter } from '../../shared/wire/byteWriter.js';
import { MESSAGE_HEADER } from '../../shared/wire/messages.js';
import { isText, putBytes, putText, putU32, putU64 } from '../expressions/formats.js';
import { FAMILIES, NFGEN_HEADER, NLM_F, SUBSYSTEM } from '../numbers.js';
import { LONGEST_COMMENT, textDatum, writeUserData } from '../values/userData.js';

/** Most bytes of a name: `NFT_NAME_MAXLEN` - 1. */
export const LONGEST_NAME = 255;
/** Rule of names of tables, chains, sets and objects. */
export const NAME_RULE = `must be a name of 1 to ${LONGEST_NAME} bytes without a zero`;

/** Writes the messages of operations. Sequence numbers and ports remain 0. */
export class Messages {
  readonly bytes: ByteWriter;
  /** Notes the invalid fields of the operation. */
  check = new Checker();
  /** Number of messages of the operation. */
  count = 0;
  #start = 0;
  #lastSetId = 0;

  constructor(bytes: ByteWriter) {
    this.bytes = bytes;
  }

  /** Begins an operation. */
  operation(): void {
    this.check = new Checker();
    this.count = 0;
  }

  /** Begins a transaction: numbers of sets begin anew. */
  transaction(): void {
    this.#lastSetId = 0;
  }

  /** A number for a set (`NFTA_SET_ID`) that no other one of the transaction has. */
  nextSetId(): number {
    return ++this.#lastSetId;
  }

  /** Begins a message. `flags` are those beside NLM_F_REQUEST. */
  begin(type: number, flags: number, family: number): void {
    this.#start = this.bytes.length;
    this.bytes
      .u32(0)
      .u16((SUBSYSTEM << 8) | type)
      .u16(flags | NLM_F.request)
      .zeros(MESSAGE_HEADER - 8)
      .u8(family)
      .zeros(NFGEN_HEADER - 1);
    this.count++;
  }

  /** Ends it. */
  end(): void {
    this.bytes.patch32(this.#start, this.bytes.length - this.#start);
  }

  /** Writes a name, which `path` names. */
  name(attribute: number, path: string, value: unknown): void {
    if (isText(value, 1, LONGEST_NAME)) putText(this.bytes, attribute, value);
    else this.check.fail(path, value, NAME_RULE, typeof value !== 'string');
  }

  /** Writes a number of 32 bits. */
  u32(attribute: number, value: number): void {
    putU32(this.bytes, attribute, value);
  }

  /** Writes a number of 64 bits; absent ones not. */
  u64(attribute: number, path: string, value: unknown, least = 0n): void {
    if (value === undefined) return;
    if (typeof value === 'bigint' && value >= least && value < 2n ** 64n)
      putU64(this.bytes, attribute, value);
    else
      this.check.fail(
        path,
        value,
        `must be a bigint from ${least} to ${2n ** 64n - 1n}`,
        typeof value !== 'bigint',
      );
  }

  /** Writes user data with a comment, if there is one. `field` is the path of the object. */
  comment(attribute: number, field: string, value: unknown): void {
    if (value === undefined) return;
    if (this.isComment(field, value, LONGEST_COMMENT))
      putBytes(this.bytes, attribute, writeUserData([textDatum(0, value)]));
  }

  /** Whether a comment has at most so many bytes. `field` is the path of the object. */
  isComment(field: string, value: unknown, longest: number): value is string {
    const ok = isText(value, 0, longest);
    if (!ok)
      this.check.fail(
        `${field}.comment`,
        value,
        `must be a text of at most ${longest} bytes without a zero`,
        typeof value !== 'string',
      );
    return ok;
  }

  /** The number of a family. */
  family(path: string, value: unknown): number {
    if (typeof value === 'number') return this.check.integer(path, value, 0, 255);
    const number = typeof value === 'string' ? numberOf(FAMILIES, value) : undefined;
    if (number !== undefined) return number;
    const rule = `must be one of ${Object.keys(FAMILIES).join(', ')}, or an integer from 0 to 255`;
    this.check.fail(path, value, rule, typeof value !== 'string');
    return 0;
  }

  /** Whether a value is true; absent is false. Any other is noted. */
  isTrue(path: string, value: unknown): boolean {
    if (value !== undefined && typeof value !== 'boolean')
      this.check.fail(path, value, 'must be true or false', true);
    return value === true;
  }

  /** Refuses what the library cannot write of an object that was listed. */
  refuseListed(path: string, object: object): void {
    const { attributes, userData } = object as { attributes?: unknown; userData?: unknown };
    const rule = 'must be left out: the library cannot write it, and would make another object';
    if (attributes !== undefined) this.check.fail(`${path}.attributes`, attributes, rule, true);
    if (userData !== undefined) this.check.fail(`${path}.userData`, userData, rule, true);
  }
}

/** The number of a name. */
export function numberOf(
  numbers: Readonly<Partial<Record<string, number>>>,
  name: unknown,
): number | undefined {
  return typeof name === 'string' && Object.hasOwn(numbers, name) ? numbers[name] : undefined;
}

/** The sum of flags: names, or bits that have no name. */
export function flagsOf(
  check: Checker,
  path: string,
  flags: unknown,
  numbers: Readonly<Record<string, number>>,
): number {
  if (flags === undefined) return 0;
  if (!Array.isArray(flags)) {
    check.fail(path, flags, 'must be an array of flags', true);
    return 0;
  }
  let sum = 0;
  for (const flag of flags) {
    const number = typeof flag === 'string' ? numberOf(numbers, flag) : flag;
    if (isIntegerWithin(number, 1, 0xffff_ffff)) sum = (sum | number) >>> 0;
    else {
      const rule = `must be among ${Object.keys(numbers).join(', ')}, or bits as a number`;
      check.fail(path, flag, rule, typeof flag !== 'string' && typeof flag !== 'number');
    }
  }
  return sum;
}
