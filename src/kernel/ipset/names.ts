// Names of operations, their targets and ipset's own numbers in errors, and hints.
import type { Attempt } from '../shared/failures.js';
import { HOST, hasModule, type Machine, recent } from '../shared/hints.js';
import type { IpsetOperation, SetEntry, SetReference } from './types.js';
import { formatEntry } from './values/entry.js';

// enum ipset_errno, include/uapi/linux/netfilter/ipset/ip_set.h. The first one means the same as an errno.
const CODES: Readonly<Record<number, string>> = {
  4100: 'EBUSY', // IPSET_ERR_BUSY
  4097: 'IPSET_ERR_PROTOCOL',
  4098: 'IPSET_ERR_FIND_TYPE',
  4099: 'IPSET_ERR_MAX_SETS',
  4102: 'IPSET_ERR_TYPE_MISMATCH',
  4103: 'IPSET_ERR_EXIST',
  4104: 'IPSET_ERR_INVALID_CIDR',
  4105: 'IPSET_ERR_INVALID_NETMASK',
  4106: 'IPSET_ERR_INVALID_FAMILY',
  4107: 'IPSET_ERR_TIMEOUT',
  4108: 'IPSET_ERR_REFERENCED',
  4109: 'IPSET_ERR_IPADDR_IPV4',
  4110: 'IPSET_ERR_IPADDR_IPV6',
  4111: 'IPSET_ERR_COUNTER',
  4112: 'IPSET_ERR_COMMENT',
  4113: 'IPSET_ERR_INVALID_MARKMASK',
  4114: 'IPSET_ERR_SKBINFO',
  4115: 'IPSET_ERR_BITMASK_NETMASK_EXCL',
};

// IPSET_ERR_EXIST_SETNAME2: there is no second set to swap with, or there is one of the new name.
const EXIST_SETNAME2 = 4101;

// From IPSET_ERR_TYPE_SPECIFIC on one number means one thing for hashes (ip_set_hash.h), another for bitmaps
// (ip_set_bitmap.h) and for lists (ip_set_list.h).
const HASH_CODES: Readonly<Record<number, string>> = {
  4352: 'IPSET_ERR_HASH_FULL',
  4353: 'IPSET_ERR_HASH_ELEM',
  4354: 'IPSET_ERR_INVALID_PROTO',
  4355: 'IPSET_ERR_MISSING_PROTO',
  4356: 'IPSET_ERR_HASH_RANGE_UNSUPPORTED',
  4357: 'IPSET_ERR_HASH_RANGE',
};
const BITMAP_CODES: Readonly<Record<number, string>> = {
  4352: 'IPSET_ERR_BITMAP_RANGE',
  4353: 'IPSET_ERR_BITMAP_RANGE_SIZE',
};
const LIST_CODES: Readonly<Record<number, string>> = {
  4352: 'IPSET_ERR_NAME',
  4353: 'IPSET_ERR_LOOP',
  4354: 'IPSET_ERR_BEFORE',
  4355: 'IPSET_ERR_NAMEREF',
  4356: 'IPSET_ERR_LIST_FULL',
  4357: 'IPSET_ERR_REF_EXIST',
};

/** Names an operation and its target, with hints. Accepts operations that break rules. */
export function attemptOf(operation: IpsetOperation): Attempt {
  return {
    operation: `ipset.${operation?.do}`,
    target: nameTarget(operation),
    hint: (code) => hintFor(code, operation?.do),
    codeOf: (errno) => codeOf(errno, operation),
  };
}

/** The same for a call that reads: of one set, of all, or of none. */
export function attemptToRead(
  verb: 'list' | 'get' | 'entries' | 'types' | 'capabilities' | 'grow',
  target?: string,
): Attempt {
  return { operation: `ipset.${verb}`, target, hint: hintFor, codeOf: (errno) => CODES[errno] };
}

/** The same for a test of an entry. */
export function attemptToTest(set: SetReference, entry: SetEntry): Attempt {
  return { ...attemptOf({ do: 'add', set, entry } as IpsetOperation), operation: 'ipset.test' };
}

/** `KUBE-CLUSTER-IP 10.96.0.10,udp:53`, the name of the set, or both names. */
function nameTarget(operation: IpsetOperation): string | undefined {
  switch (operation?.do) {
    case 'create':
      return operation.set?.name;
    case 'add':
    case 'delete':
      return `${operation.set?.name} ${operation.entry ? formatEntry(operation.entry) : operation.entry}`;
    case 'flush':
    case 'destroy':
      return operation.name;
    case 'swap':
      return `${operation.name} ${operation.other}`;
    case 'rename':
      return `${operation.name} ${operation.newName}`;
    default:
      return undefined;
  }
}

function codeOf(errno: number, operation: IpsetOperation): string | undefined {
  if (errno === EXIST_SETNAME2) return operation.do === 'rename' ? 'EEXIST' : 'ENOENT';
  return CODES[errno] ?? typeCodes(operation)[errno];
}

function typeCodes(operation: IpsetOperation): Readonly<Record<number, string>> {
  const type = 'set' in operation ? operation.set.type : '';
  if (type.startsWith('list:')) return LIST_CODES;
  return type.startsWith('bitmap:') ? BITMAP_CODES : HASH_CODES;
}

// Without ip_set the kernel answers every request with EINVAL; without netfilter's netlink no socket can be opened.
export const MISSING_MODULE = 'load the kernel module ip_set, if it is missing (modprobe ip_set)';

/** The hint to EINVAL, which the kernel has for invalid values too: none if the module is there. */
export function missingModule(machine: Machine = HOST): string | undefined {
  return hasModule('ip_set', machine) ? undefined : MISSING_MODULE;
}

/** The hint where libipset is missing. */
export const MISSING_LIBRARY = 'install libipset, version 7 (Debian and Ubuntu: apt-get install libipset13)';

/** The hint for a failure to open. */
export function hintForOpen(code: string): string | undefined {
  return code === 'EPROTONOSUPPORT' ? MISSING_MODULE : undefined;
}

/** The kernel counts listings that are under way as references of their own. */
function hintFor(code: string, verb?: string): string | undefined {
  switch (code) {
    case 'ERR_LIBRARY':
      return MISSING_LIBRARY;
    case 'EBUSY':
      if (verb === 'swap') return 'another program lists one of the sets';
      return 'a rule or another set refers to it, or another program lists it';
    case 'IPSET_ERR_REFERENCED':
      return 'a rule or another set refers to it, or another program lists it';
    case 'IPSET_ERR_HASH_FULL':
      return 'the set was created with too small a maxElements';
    case 'IPSET_ERR_TIMEOUT':
    case 'IPSET_ERR_COUNTER':
    case 'IPSET_ERR_COMMENT':
    case 'IPSET_ERR_SKBINFO':
      return 'the set was created without this extension';
    case 'EINVAL':
      return recent('ip_set', () => missingModule());
    case 'EOPNOTSUPP':
      return 'it needs a newer kernel, or a newer libipset';
    case 'IPSET_ERR_FIND_TYPE':
      return 'the kernel lacks this type of set, or for this family: load its module (ip_set_hash_ip for hash:ip, and so on)';
    default:
      return undefined;
  }
}
