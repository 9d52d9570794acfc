// The parameters of a set that is created → attributes behind its operation record.
import type { RecordWriter } from '../shared/records/recordWriter.js';
import { ATTR, FLAG, VALUE } from './attributes.js';
import { type Parameter, refuse, SHAPES } from './shapes.js';
import type { SetDefinition } from './types.js';

/** Largest timeout, in s: IPSET_MAX_TIMEOUT, which is 2^32 ms / 2. */
export const LARGEST_TIMEOUT = 2_147_483;
const ALL_BITS = 0xffff_ffff;

type Write = (writer: RecordWriter, set: SetDefinition, path: string, value: never) => void;

/** How each parameter is written; `family` is in the record, and flags are one attribute for all. */
const WRITE: Readonly<Record<Parameter, Write>> = {
  family: () => undefined,
  hashSize: number32(ATTR.hashSize, 1, 0x8000_0000),
  maxElements: number32(ATTR.maxElements, 1, ALL_BITS),
  bucketSize: number8(ATTR.bucketSize, () => 255),
  initval: number32(ATTR.initval, 0, ALL_BITS),
  netmask: number8(ATTR.netmask, (set) => (set.family === 6 ? 128 : 32)),
  markMask: number32(ATTR.markMask, 1, ALL_BITS),
  size: number32(ATTR.size, 1, 65535),
  timeout: number32(ATTR.timeout, 0, LARGEST_TIMEOUT),
  bitmask: writeBitmask,
  range: writeRange,
  counters: flag,
  comment: flag,
  skbInfo: flag,
  forceAdd: flag,
};

/** The flag of each parameter that is true or false. */
const PARAMETER_FLAGS: Readonly<Partial<Record<Parameter, number>>> = {
  counters: FLAG.withCounters,
  comment: FLAG.withComment,
  skbInfo: FLAG.withSkbInfo,
  forceAdd: FLAG.withForceAdd,
};

/** The parameters of all types. */
export const PARAMETERS = Object.keys(WRITE) as readonly Parameter[];

/** What is sent if nothing else is asked for: ipset(8) leaves these to the kernel, which has the same values. */
const DEFAULTS: Readonly<Partial<Record<Parameter, unknown>>> = { hashSize: 1024, maxElements: 65536 };

/** Writes the parameters of a set behind its record. */
export function writeParameters(set: SetDefinition, writer: RecordWriter): void {
  const { parameters } = SHAPES[set.type];
  let flags = 0;
  for (const parameter of PARAMETERS) {
    const { [parameter]: given = parameters.includes(parameter) ? defaultOf(set, parameter) : undefined } =
      set;
    const value: unknown = given;
    if (value === undefined || parameter === 'family') continue;
    const path = `set.${parameter}`;
    if (!parameters.includes(parameter)) refuse(writer, path, value, set.type);
    else WRITE[parameter](writer, set, path, value as never);
    if (value === true) flags |= PARAMETER_FLAGS[parameter] ?? 0;
  }
  if (flags !== 0) writer.u32(VALUE.u32.value, flags, writer.attribute(ATTR.cadtFlags, 4));
}

function defaultOf(set: SetDefinition, parameter: Parameter): unknown {
  if (parameter !== 'range') return DEFAULTS[parameter];
  return set.type === 'bitmap:port' ? [0, 65535] : []; // of addresses there is no default: the rule is reported
}

function number32(type: number, least: number, most: number): Write {
  return (writer, _set, path, value) =>
    writer.u32(VALUE.u32.value, writer.integer(path, value, least, most), writer.attribute(type, 4));
}

function number8(type: number, most: (set: SetDefinition) => number): Write {
  return (writer, set, path, value) =>
    writer.u8(VALUE.u8.value, writer.integer(path, value, 1, most(set)), writer.attribute(type, 1));
}

function flag(writer: RecordWriter, _set: SetDefinition, path: string, value: unknown): void {
  if (typeof value !== 'boolean') writer.fail(path, value, 'must be true or false', true);
}

function writeBitmask(writer: RecordWriter, set: SetDefinition, path: string, value: unknown): void {
  writeAddress(writer, path, value, set.family ?? 4, ATTR.bitmask);
  if (set.netmask !== undefined) writer.fail(path, value, 'must be left out with netmask');
}

function writeRange(writer: RecordWriter, set: SetDefinition, path: string, value: unknown): void {
  const [from, to, ...rest]: readonly unknown[] = Array.isArray(value) ? value : [];
  if (!Array.isArray(value) || rest.length > 0) {
    writer.fail(path, value, 'must be an array of the first and the last one', true);
  } else if (set.type === 'bitmap:port') {
    const first = writer.integer(`${path}[0]`, from, 0, 65535);
    writer.u16(VALUE.u16.value, first, writer.attribute(ATTR.port, 2));
    const last = writer.integer(`${path}[1]`, to, first, 65535);
    writer.u16(VALUE.u16.value, last, writer.attribute(ATTR.portTo, 2));
  } else {
    writeAddress(writer, `${path}[0]`, from, 4, ATTR.ip);
    writeAddress(writer, `${path}[1]`, to, 4, ATTR.ipTo);
  }
}

/** Writes an address of a family as an attribute. */
export function writeAddress(
  writer: RecordWriter,
  path: string,
  value: unknown,
  family: number,
  type: number,
): void {
  const found = writer.address(path, value, VALUE.address.value, writer.attribute(type, 16));
  if (found !== family) writer.fail(path, value, `must be an IPv${family} address, as the set's are`);
}
