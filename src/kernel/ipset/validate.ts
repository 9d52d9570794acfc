// Finds what is wrong with an operation before it is packed: the field, and the rule that it breaks.
import type { Problem } from '../../errors.js';
import { canonicalAddress, type Family, parseAddress } from '../../net/address.js';
import { formatNetwork, parseNetwork } from '../../net/network.js';
import { PROTOCOL_NUMBERS } from '../../net/protocol.js';
import type { IpsetOperation, SetDefinition, SetEntry, SetReference, SetType } from './types.js';

/** A broken rule; the object it belongs to is known to the caller. */
export type Fault = Pick<Problem, 'field' | 'value' | 'rule'>;

// The fields of an entry that each type has, in the order in which they are checked. A prefix may be left out.
const SHAPES: Readonly<Record<SetType, readonly (keyof SetEntry)[]>> = {
  'hash:ip': ['address'],
  'hash:net': ['address', 'prefix'],
  'hash:ip,port': ['address', 'protocol', 'port'],
  'hash:ip,port,ip': ['address', 'protocol', 'port', 'address2'],
  'hash:ip,port,net': ['address', 'protocol', 'port', 'address2', 'prefix2'],
  'bitmap:port': ['port'],
};
const ENTRY_FIELDS = ['address', 'prefix', 'protocol', 'port', 'address2', 'prefix2'] as const;

// IPSET_MAXNAMELEN less the terminator.
const LONGEST_NAME = 31;
const encoder = new TextEncoder();

/** What is wrong with an operation, or undefined. */
export function findFault(operation: IpsetOperation): Fault | undefined {
  switch (operation?.do) {
    case 'create':
      return findInReference(operation.set) ?? findInDefinition(operation.set);
    case 'add':
      return findInReference(operation.set) ?? findInEntry(operation.set, operation.entry, ['noMatch']);
    case 'delete':
      return findInReference(operation.set) ?? findInEntry(operation.set, operation.entry, []);
    case 'flush':
    case 'destroy':
      return findInName('name', operation.name);
    case 'swap':
      return findInName('name', operation.name) ?? findInName('other', operation.other);
    default: {
      const value = (operation as { do?: unknown } | undefined)?.do;
      return { field: 'do', value, rule: 'must be create, add, delete, flush, destroy or swap' };
    }
  }
}

/** What is wrong with the name of a set, or undefined. */
export function findInName(field: string, name: string): Fault | undefined {
  const right =
    typeof name === 'string' &&
    name !== '' &&
    !name.includes('\0') &&
    encoder.encode(name).length <= LONGEST_NAME;
  return right ? undefined : { field, value: name, rule: `must be a name of 1 to ${LONGEST_NAME} bytes` };
}

function findInReference(set: SetReference): Fault | undefined {
  const name = findInName('set.name', set?.name);
  if (name) return name;
  if (!Object.hasOwn(SHAPES, set.type)) {
    const types = Object.keys(SHAPES).join('; ');
    return { field: 'set.type', value: set.type, rule: `must be one of ${types}` };
  }
  const right = isHash(set.type) ? set.family === 4 || set.family === 6 : set.family === undefined;
  const rule = isHash(set.type) ? 'must be 4 or 6' : `must be left out for ${set.type}`;
  return right ? undefined : { field: 'set.family', value: set.family, rule };
}

function findInDefinition(set: SetDefinition): Fault | undefined {
  if (isHash(set.type)) {
    return (
      findInNumber('set.hashSize', set.hashSize ?? 1, 1, 0x8000_0000) ??
      findInNumber('set.maxElements', set.maxElements ?? 1, 1, 0xffff_ffff) ??
      findSuperfluous('set', set, ['range'], set.type)
    );
  }
  const [from, to] = set.range ?? [0, 65535];
  return (
    findInNumber('set.range[0]', from, 0, 65535) ??
    findInNumber('set.range[1]', to, from, 65535) ??
    findSuperfluous('set', set, ['hashSize', 'maxElements'], set.type)
  );
}

function findInEntry(
  set: SetReference,
  entry: SetEntry,
  forbidden: readonly (keyof SetEntry)[],
): Fault | undefined {
  if (typeof entry !== 'object' || entry === null)
    return { field: 'entry', value: entry, rule: 'must be an entry' };
  const shape = SHAPES[set.type];
  const others = ENTRY_FIELDS.filter((field) => !shape.includes(field));
  for (const field of shape) {
    const fault = findInField(field, entry, set.family ?? 4);
    if (fault) return fault;
  }
  return findSuperfluous('entry', entry, [...others, ...forbidden], set.type);
}

function findInField(field: keyof SetEntry, entry: SetEntry, family: Family): Fault | undefined {
  switch (field) {
    case 'address':
    case 'address2':
      return findInAddress(`entry.${field}`, entry[field], family);
    case 'prefix':
      return findInPrefix('entry.prefix', entry.address, entry.prefix, family);
    case 'prefix2':
      return findInPrefix('entry.prefix2', entry.address2, entry.prefix2, family);
    case 'port':
      return findInNumber('entry.port', entry.port, 0, 65535);
    case 'protocol': {
      const right = entry.protocol !== undefined && Object.hasOwn(PROTOCOL_NUMBERS, entry.protocol);
      return right
        ? undefined
        : { field: 'entry.protocol', value: entry.protocol, rule: 'must be tcp, udp or sctp' };
    }
    default:
      return undefined;
  }
}

function findInAddress(field: string, address: string | undefined, family: Family): Fault | undefined {
  const bytes = typeof address === 'string' ? parseAddress(address) : undefined;
  if (bytes?.length === (family === 4 ? 4 : 16)) return undefined;
  return { field, value: address, rule: `must be an IPv${family} address, as the set's are` };
}

/** A prefix may be left out. The kernel would drop the bits behind it, and the entry would be listed as another. */
function findInPrefix(
  field: string,
  address: string | undefined,
  prefix: number | undefined,
  family: Family,
): Fault | undefined {
  if (prefix === undefined) return undefined;
  const fault = findInNumber(field, prefix, 1, family === 4 ? 32 : 128);
  if (fault) return fault;
  const network = parseNetwork(`${address}/${prefix}`);
  if (network && formatNetwork(network) === `${canonicalAddress(address ?? '')}/${prefix}`) return undefined;
  return { field, value: prefix, rule: `must cover every bit that is set in ${address}` };
}

function findInNumber(field: string, value: number | undefined, from: number, to: number): Fault | undefined {
  const right = value !== undefined && Number.isInteger(value) && value >= from && value <= to;
  return right ? undefined : { field, value, rule: `must be an integer from ${from} to ${to}` };
}

function findSuperfluous<T extends object>(
  object: string,
  value: T,
  fields: readonly (keyof T & string)[],
  type: SetType,
): Fault | undefined {
  const field = fields.find((name) => value[name] !== undefined);
  return field && { field: `${object}.${field}`, value: value[field], rule: `must be left out for ${type}` };
}

function isHash(type: SetType): boolean {
  return type !== 'bitmap:port';
}
