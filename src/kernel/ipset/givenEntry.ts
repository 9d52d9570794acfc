// The notation of an entry that a program gives, which may break rules.
import { canonicalAddressAsIs } from '../net/address.js';
import { PROTOCOL_NUMBERS } from '../net/protocol.js';
import {
  argumentError,
  checkObject,
  type InvalidValue,
  invalidInteger,
  invalidObject,
} from '../shared/arguments.js';
import type { IcmpType, SetEntry } from './types.js';
import { formatEntry } from './values/entry.js';

const LARGEST_U32 = 0xffff_ffff;

/** {@link formatEntry} of a value that may not be an entry: throws a TypeError or RangeError that names what breaks a rule. */
export function formatGivenEntry(entry: SetEntry): string {
  const operation = 'ipset.formatEntry';
  checkObject(operation, 'entry', entry);
  for (const [field, value] of Object.entries(entry)) {
    const invalid = value === undefined ? undefined : invalidField(field, value);
    if (invalid) throw argumentError(operation, invalid);
  }
  return formatEntry(entry);
}

const ADDRESSES: ReadonlySet<string> = new Set(['address', 'lastAddress', 'address2', 'lastAddress2']);
const TEXTS: ReadonlySet<string> = new Set(['mac', 'interface', 'set', 'before', 'after', 'comment']);
const NUMBERS: ReadonlySet<string> = new Set([
  ...['prefix', 'prefix2', 'port', 'lastPort', 'mark', 'timeout'],
  ...['skbMark', 'skbMask', 'skbPrio', 'skbQueue'],
]);
const SWITCHES: ReadonlySet<string> = new Set(['physdev', 'wildcard', 'noMatch']);

/** What is invalid in a field whose value has another type. What a value may be depends on the type of the set. */
function invalidField(field: string, value: unknown): InvalidValue | undefined {
  const path = `entry.${field}`;
  const refuse = (rule: string): InvalidValue => ({ field: path, value, rule, wrongType: true });
  if (ADDRESSES.has(field)) {
    const isAddress = typeof value === 'string' && canonicalAddressAsIs(value) !== undefined;
    return isAddress ? undefined : refuse('must be an IPv4 or IPv6 address');
  }
  if (TEXTS.has(field)) {
    const isText = typeof value === 'string' && value !== '' && !value.includes('\0');
    return isText ? undefined : refuse('must be a text of at least one byte');
  }
  if (NUMBERS.has(field)) return invalidInteger(path, value, 0, LARGEST_U32);
  if (SWITCHES.has(field)) return typeof value === 'boolean' ? undefined : refuse('must be true or false');
  if (field === 'packets' || field === 'bytes') {
    const isCounter = typeof value === 'bigint' && value === BigInt.asUintN(64, value);
    return isCounter ? undefined : refuse('must be a bigint of 64 bits');
  }
  if (field === 'attributes') return Array.isArray(value) ? undefined : refuse('must be an array');
  if (field === 'icmp') return invalidIcmp(value);
  if (field !== 'protocol') return refuse('is not a field of an entry');
  return typeof value === 'string' && Object.hasOwn(PROTOCOL_NUMBERS, value)
    ? undefined
    : invalidInteger(path, value, 1, 255);
}

function invalidIcmp(value: unknown): InvalidValue | undefined {
  const invalid = invalidObject('entry.icmp', value);
  if (invalid) return invalid;
  const { type, code, ...others } = value as Partial<IcmpType>;
  const [unknown] = Object.entries(others);
  if (unknown) {
    return {
      field: `entry.icmp.${unknown[0]}`,
      value: unknown[1],
      rule: 'is not a field of an entry',
      wrongType: true,
    };
  }
  return invalidInteger('entry.icmp.type', type, 0, 255) ?? invalidInteger('entry.icmp.code', code, 0, 255);
}
