// The notation of an entry that a program gives, which may break rules.
import { canonicalAddress } from '../../net/address.js';
import { PROTOCOL_NUMBERS } from '../../net/protocol.js';
import { argumentError, checkObject, type Fault, integerFault, objectFault } from '../shared/arguments.js';
import type { IcmpType, SetEntry } from './types.js';
import { formatEntry } from './values/entry.js';

const LARGEST_U32 = 0xffff_ffff;

/** {@link formatEntry} of a value that may not be an entry: throws a TypeError or RangeError that names what breaks a rule. */
export function formatGivenEntry(entry: SetEntry): string {
  const operation = 'ipset.formatEntry';
  checkObject(operation, 'entry', entry);
  for (const [field, value] of Object.entries(entry)) {
    const fault = value === undefined ? undefined : fieldFault(field, value);
    if (fault) throw argumentError(operation, fault);
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

/** The fault of a field whose value has another type. What a value may be depends on the type of the set. */
function fieldFault(field: string, value: unknown): Fault | undefined {
  const path = `entry.${field}`;
  const refuse = (rule: string): Fault => ({ field: path, value, rule, wrongType: true });
  if (ADDRESSES.has(field)) {
    const isAddress = typeof value === 'string' && canonicalAddress(value) !== undefined;
    return isAddress ? undefined : refuse('must be an IPv4 or IPv6 address');
  }
  if (TEXTS.has(field)) {
    const isText = typeof value === 'string' && value !== '' && !value.includes('\0');
    return isText ? undefined : refuse('must be a text of at least one byte');
  }
  if (NUMBERS.has(field)) return integerFault(path, value, 0, LARGEST_U32);
  if (SWITCHES.has(field)) return typeof value === 'boolean' ? undefined : refuse('must be true or false');
  if (field === 'packets' || field === 'bytes') {
    const isCounter = typeof value === 'bigint' && value === BigInt.asUintN(64, value);
    return isCounter ? undefined : refuse('must be a bigint of 64 bits');
  }
  if (field === 'attributes') return Array.isArray(value) ? undefined : refuse('must be an array');
  if (field === 'icmp') return icmpFault(value);
  if (field !== 'protocol') return refuse('is not a field of an entry');
  return typeof value === 'string' && Object.hasOwn(PROTOCOL_NUMBERS, value)
    ? undefined
    : integerFault(path, value, 1, 255);
}

function icmpFault(value: unknown): Fault | undefined {
  const fault = objectFault('entry.icmp', value);
  if (fault) return fault;
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
  return integerFault('entry.icmp.type', type, 0, 255) ?? integerFault('entry.icmp.code', code, 0, 255);
}
