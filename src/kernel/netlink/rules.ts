// The rules of arguments, which the client and the fake have in common.
import { NetlinkError } from '../errors.js';
import { argumentError, type InvalidValue, invalidInteger } from '../shared/arguments.js';
import { MessageWriter } from './messages.js';
import type { NetlinkProtocol, NetlinkRequest } from './types.js';

const NETLINK_GENERIC = 16;

const PROTOCOLS = { route: 0, netfilter: 12, generic: NETLINK_GENERIC } as const;
/** `MAX_LINKS` − 1 */
const LAST_PROTOCOL = 31;
/** Most groups of a watch: a bound on memory, far above the number that kernels have. */
const MOST_GROUPS = 1024;
const LARGEST_GROUP = 0x7fff_ffff;

/** The number of a protocol (`NETLINK_…`). Throws the error of the call if it is invalid, as all functions here do. */
export function protocolNumber(protocol: NetlinkProtocol, operation: string): number {
  // What an object inherits is not a protocol.
  const named = typeof protocol === 'string' && Object.hasOwn(PROTOCOLS, protocol);
  const number = typeof protocol === 'number' ? protocol : named ? PROTOCOLS[protocol] : undefined;
  if (number === undefined) {
    const rule = `must be a number, or one of ${Object.keys(PROTOCOLS).join(', ')}`;
    const wrongType = typeof protocol !== 'string';
    throw argumentError(operation, { field: 'protocol', value: protocol, rule, wrongType });
  }
  const invalid = invalidInteger('protocol', number, 0, LAST_PROTOCOL);
  if (invalid) throw argumentError(operation, invalid);
  return number;
}

/** Checks the option of that name. */
export function checkStrictChecking(value: unknown, operation: string): void {
  if (typeof value === 'boolean') return;
  const invalid = { field: 'strictChecking', value, rule: 'must be true or false', wrongType: true };
  throw argumentError(operation, invalid);
}

/** The bytes of one request, with these flags added. */
export function bytesOf(request: NetlinkRequest, flags: number, operation: string): Uint8Array {
  const writer = new MessageWriter(flags);
  const invalid = writer.write(request);
  if (invalid) throw argumentError(operation, invalid);
  return writer.bytes();
}

/** Checks the name of a family: `GENL_NAMSIZ` is 16, with the zero. */
export function checkFamilyName(name: unknown, operation: string): void {
  if (typeof name === 'string' && /^[^\0]{1,15}$/.test(name)) return;
  const rule = 'must be a name of 1 to 15 bytes';
  throw argumentError(operation, { field: 'name', value: name, rule, wrongType: typeof name !== 'string' });
}

/** Checks that families have names on a protocol. */
export function checkNamed(protocol: number, name: string, operation: string): void {
  if (protocol === NETLINK_GENERIC) return;
  const kernelMessage = 'only the protocol generic has families with names';
  throw new NetlinkError({ code: 'ERR_INVALID_ARGUMENT', operation, target: name, kernelMessage });
}

/** Checks the groups of a watch. */
export function checkGroups(groups: unknown, operation: string): void {
  const invalid = findInvalidGroups(groups);
  if (invalid) throw argumentError(operation, invalid);
}

function findInvalidGroups(groups: unknown): InvalidValue | undefined {
  if (!Array.isArray(groups) || groups.length === 0 || groups.length > MOST_GROUPS) {
    const rule = `must be an array of 1 to ${MOST_GROUPS} numbers`;
    return { field: 'groups', value: groups, rule, wrongType: !Array.isArray(groups) };
  }
  for (const [place, group] of groups.entries()) {
    const invalid = invalidInteger(`groups[${place}]`, group, 1, LARGEST_GROUP);
    if (invalid) return invalid;
  }
  return undefined;
}
