// Errors of the fake with the kernel's messages. Kernels before 6.2 have no message for some of them.
import { constants } from 'node:os';
import type { Refusal } from '../client.js';

const { EADDRNOTAVAIL, EEXIST, EHOSTUNREACH, EINVAL, ENETDOWN, ENETUNREACH, ENODEV } = constants.errno;

/** A link that is referred to does not exist: the message is the addon's. */
export function noLink(name: string): Refusal {
  return { errno: ENODEV, message: `there is no link ${name}` };
}

/** Errors that are the same for both families, but for their messages. */
export const REFUSALS = {
  4: {
    assigned: { errno: EEXIST, message: 'ipv4: Address already assigned' },
    notAssigned: { errno: EADDRNOTAVAIL, message: 'ipv4: Address not found' },
    linkDown: { errno: ENETDOWN, message: 'Device for nexthop is not up' },
    noWay: { errno: ENETUNREACH, message: 'Nexthop has invalid gateway' },
    notOurs: { errno: EINVAL, message: 'Invalid prefsrc address' },
  },
  6: {
    assigned: { errno: EEXIST, message: 'ipv6: address already assigned' },
    notAssigned: { errno: EADDRNOTAVAIL, message: 'ipv6: address not found' },
    linkDown: { errno: ENETDOWN, message: 'Nexthop device is not up' },
    noWay: EHOSTUNREACH,
    notOurs: { errno: EINVAL, message: 'Invalid source address' },
  },
} as const satisfies Record<4 | 6, Record<string, Refusal>>;

export const HOST_BITS: Refusal = { errno: EINVAL, message: 'Invalid prefix for given prefix length' };
export const BACKWARD_GOTO: Refusal = { errno: EINVAL, message: 'Backward goto not supported' };
export const NO_HARDWARE_ADDRESS: Refusal = { errno: EINVAL, message: 'No link layer address given' };
export const BAD_HARDWARE_ADDRESS: Refusal = { errno: EINVAL, message: 'Invalid link address' };
export const UNKNOWN_KIND: Refusal = { errno: constants.errno.EOPNOTSUPP, message: 'Unknown device type' };
export const VLAN_EXISTS: Refusal = { errno: EEXIST, message: '8021q: VLAN device already exists' };
export const BRIDGE_IN_BRIDGE: Refusal = {
  errno: constants.errno.ELOOP,
  message: 'Can not enslave a bridge to a bridge',
};
export const SHORT_MTU: Refusal = { errno: EINVAL, message: 'mtu less than device minimum' };
export const LONG_MTU: Refusal = { errno: EINVAL, message: 'mtu greater than device maximum' };
/** Kinds that need settings for which the library has no fields: the number of a table, or of a network. */
export const INCOMPLETE_KINDS: ReadonlyMap<string, Refusal> = new Map([
  ['vrf', { errno: EINVAL, message: 'VRF table id is missing' }],
  ['vxlan', { errno: EINVAL, message: 'Required attributes not provided to perform the operation' }],
]);
