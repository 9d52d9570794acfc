// The values of fields ↔ attributes. Numbers of nf_tables are in network order.
import { integerRule, isIntegerWithin } from '../../shared/arguments.js';
import type { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import type { ByteWriter } from '../../shared/wire/byteWriter.js';
import { DATA, NESTED, VERDICT } from '../numbers.js';
import { LONGEST_VALUE } from '../values/valueTypes.js';
import { codeOfVerdict, VERDICTS, verdictOfCode } from '../values/verdicts.js';
import type { Verdict } from './types.js';

/** A kind of value in an attribute. */
export interface Format<T> {
  /** `must be true or false`. */
  readonly rule: string;
  /** `typeof` of valid values. */
  readonly type: 'bigint' | 'number' | 'object' | 'string';
  accepts(value: unknown): boolean;
  write(writer: ByteWriter, attribute: number, value: T): void;
  /** Undefined for a value that has no notation. */
  read(attribute: AttributeCursor): T | undefined;
}

/** An attribute with a text and a zero. */
export function putText(writer: ByteWriter, attribute: number, text: string): void {
  const length = Buffer.byteLength(text);
  writer.u16(length + 5).u16(attribute);
  const at = writer.reserve((length + 4) & ~3);
  writer.memory.write(text, at);
}

/** An attribute with a number of 32 bits. */
export function putU32(writer: ByteWriter, attribute: number, value: number): void {
  writer.u16(8).u16(attribute).u32be(value);
}

/** An attribute with a number of 64 bits. */
export function putU64(writer: ByteWriter, attribute: number, value: bigint): void {
  writer.u16(12).u16(attribute).u64be(value);
}

/** An attribute with bytes. */
export function putBytes(writer: ByteWriter, attribute: number, value: Uint8Array): void {
  writer
    .u16(value.length + 4)
    .u16(attribute)
    .bytes(value)
    .pad();
}

/** Whether a value is a text of so many bytes without a zero. */
export function isText(value: unknown, least: number, most: number): value is string {
  if (typeof value !== 'string' || value.length < least || value.length > most || value.includes('\0'))
    return false;
  return value.length * 3 <= most || Buffer.byteLength(value) <= most;
}

const MOST = { u8: 0xff, u16: 0xffff, u32: 0xffff_ffff } as const;

/** An integer. Default bounds: those of the width. */
export function integer(width: 'u8' | 'u16' | 'u32', least = 0, most: number = MOST[width]): Format<number> {
  return {
    rule: integerRule(least, most),
    type: 'number',
    accepts: (value) => isIntegerWithin(value, least, most),
    write(writer, attribute, value) {
      if (width === 'u32') putU32(writer, attribute, value);
      else if (width === 'u16') writer.u16(6).u16(attribute).u16be(value).pad();
      else writer.u16(5).u16(attribute).u8(value).pad();
    },
    read: (attribute) => {
      const value = width === 'u32' ? u32Of(attribute) : width === 'u16' ? attribute.u16be() : attribute.u8();
      return value >= least && value <= most ? value : undefined;
    },
  };
}

/** A number of 32 bits in network order. */
export function u32Of(attribute: AttributeCursor): number {
  return attribute.u16be() * 65536 + attribute.u16be(2);
}

/** A number of 64 bits in network order. */
export function u64Of(attribute: AttributeCursor): bigint {
  const high = attribute.u16be() * 65536 + attribute.u16be(2);
  const low = attribute.u16be(4) * 65536 + attribute.u16be(6);
  return high === 0 ? BigInt(low) : (BigInt(high) << 32n) | BigInt(low);
}

const MOST_U64 = 2n ** 64n - 1n;

/** A bigint of 64 bits. */
export const bigInteger: Format<bigint> = {
  rule: `must be a bigint from 0 to ${MOST_U64}`,
  type: 'bigint',
  accepts: (value) => typeof value === 'bigint' && value >= 0n && value <= MOST_U64,
  write: putU64,
  read: u64Of,
};

/** A register that a value is loaded to, or from. */
export const register: Format<number> = {
  rule: 'must be a register: 1 to 4, or 8 to 23',
  type: 'number',
  accepts: (value) => isIntegerWithin(value, 1, 4) || isIntegerWithin(value, 8, 23),
  write: putU32,
  read(attribute) {
    const value = u32Of(attribute);
    return this.accepts(value) ? value : undefined;
  },
};

/** The same, or 0 for the verdict. */
export const registerOrVerdict: Format<number> = {
  ...register,
  rule: 'must be a register: 0 for the verdict, 1 to 4, or 8 to 23',
  accepts: (value) => value === 0 || register.accepts(value),
};

/** Names that stand for numbers. */
export type Numbers<Name extends string> = Readonly<Record<Name, number>>;

/** The name of a number, if it has one. */
export function nameOf<Name extends string>(numbers: Numbers<Name>, number: number): Name | undefined {
  for (const name in numbers) if (numbers[name] === number) return name;
  return undefined;
}

/** One of some names. */
export function choice<Name extends string>(
  numbers: Numbers<Name>,
  width: 'u8' | 'u16' | 'u32' = 'u32',
): Format<Name> {
  const number = integer(width);
  return {
    rule: `must be one of ${Object.keys(numbers).join(', ')}`,
    type: 'string',
    accepts: (value) => typeof value === 'string' && Object.hasOwn(numbers, value),
    write: (writer, attribute, value) => number.write(writer, attribute, numbers[value]),
    read: (attribute) => nameOf(numbers, number.read(attribute) as number),
  };
}

/** One of some names, or a number without a name. */
export function nameOrNumber<Name extends string>(numbers: Numbers<Name>): Format<Name | number> {
  const named = choice(numbers);
  const number = integer('u32');
  return {
    rule: `${named.rule}, or an integer from 0 to ${MOST.u32}`,
    type: 'string',
    accepts: (value) => named.accepts(value) || number.accepts(value),
    write: (writer, attribute, value) =>
      putU32(writer, attribute, typeof value === 'number' ? value : numbers[value]),
    read: (attribute) => nameOf(numbers, u32Of(attribute)) ?? u32Of(attribute),
  };
}

/** A text without a zero. */
export function text(longest: number, shortest = 1): Format<string> {
  return {
    rule: `must be a text of ${shortest} to ${longest} bytes without a zero`,
    type: 'string',
    accepts: (value) => isText(value, shortest, longest),
    write: putText,
    read: (attribute) => attribute.text(),
  };
}

/** The bytes of a value, in `NFTA_DATA_VALUE`. */
export const data: Format<Uint8Array> = {
  rule: `must be a Uint8Array of 1 to ${LONGEST_VALUE} bytes`,
  type: 'object',
  accepts: (value) => value instanceof Uint8Array && value.length > 0 && value.length <= LONGEST_VALUE,
  write(writer, attribute, value) {
    const start = writer.begin(attribute | NESTED);
    putBytes(writer, DATA.value, value);
    writer.end(start);
  },
  read(attribute) {
    const inner = attribute.nested();
    if (!inner.next() || inner.type !== DATA.value || !this.accepts(inner.bytes())) return undefined;
    const bytes = new Uint8Array(inner.bytes());
    return inner.next() ? undefined : bytes;
  },
};

/** A verdict, in `NFTA_DATA_VERDICT`. */
export const verdict: Format<Verdict> = {
  rule: `must be a verdict: {verdict} of ${VERDICTS.join(', ')}, with the name of a chain, of 1 to 255 bytes, in {chain} of jump and goto`,
  type: 'object',
  accepts: isVerdict,
  write(writer, attribute, value) {
    const start = writer.begin(attribute | NESTED);
    const inner = writer.begin(DATA.verdict | NESTED);
    putU32(writer, VERDICT.code, codeOfVerdict(value.verdict) ?? 0);
    if ('chain' in value) putText(writer, VERDICT.chain, value.chain);
    writer.end(inner);
    writer.end(start);
  },
  read: readVerdict,
};

/** Whether a value is a verdict, with a chain if it needs one, and without any other field. */
export function isVerdict(value: unknown): value is Verdict {
  if (typeof value !== 'object' || value === null) return false;
  const { verdict: name, chain } = value as { verdict?: unknown; chain?: unknown };
  if (codeOfVerdict(name) === undefined) return false;
  const needsChain = name === 'jump' || name === 'goto';
  for (const field in value) if (field !== 'verdict' && !(field === 'chain' && needsChain)) return false;
  return !needsChain || isText(chain, 1, 255);
}

/** The verdict in `NFTA_DATA_VERDICT`; undefined if it is none, or has an attribute or a code that is unknown here. */
export function readVerdict(attribute: AttributeCursor): Verdict | undefined {
  const outer = attribute.nested();
  if (!outer.next() || outer.type !== DATA.verdict) return undefined;
  let code: number | undefined;
  let chain: string | undefined;
  for (const inner = outer.nested(); inner.next(); ) {
    if (inner.type === VERDICT.code) code = u32Of(inner);
    else if (inner.type === VERDICT.chain) chain = inner.text();
    else return undefined;
  }
  return code === undefined || outer.next() ? undefined : verdictOfCode(code, chain);
}
