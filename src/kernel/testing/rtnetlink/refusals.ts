// Errors of the fake with the kernel's messages. Kernels before 6.2 have no message for some of them.
import { constants } from 'node:os';
import type { Refusal } from '../client.js';

const { EADDRNOTAVAIL, EEXIST, EHOSTUNREACH, EINVAL, ENETDOWN, ENETUNREACH, ENODEV } = constants.errno;

/** A link that is referred to does not exist: the message is the addon's. */
export function noLink(name: string | number): Refusal {
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
export const VXLAN_EXISTS: Refusal = {
  errno: EEXIST,
  message: 'A VXLAN device with the specified VNI already exists',
};
export const NO_LINK_OF_GROUP: Refusal = {
  errno: EINVAL,
  message: 'Local interface required for multicast remote destination',
};
export const OTHER_VNI: Refusal = { errno: constants.errno.EOPNOTSUPP, message: 'Cannot change VNI' };
export const OTHER_PORT: Refusal = {
  errno: constants.errno.EOPNOTSUPP,
  message: 'Cannot change port',
};
export const BOND_HAS_PORTS: Refusal = {
  errno: constants.errno.ENOTEMPTY,
  message: 'unable to set option because the bond device has slaves',
};
export const BOND_IS_UP: Refusal = {
  errno: constants.errno.EBUSY,
  message: 'unable to set option because the bond is up',
};
export const NO_SUCH_NEXTHOP: Refusal = { errno: EINVAL, message: 'Invalid nexthop id' };
export const NO_NEXTHOP_OF_ROUTE: Refusal = { errno: EINVAL, message: 'Nexthop id does not exist' };
export const NEXTHOP_FOR_GROUP: Refusal = {
  errno: EINVAL,
  message: 'Can not replace a nexthop group with a nexthop.',
};
export const GROUP_FOR_NEXTHOP: Refusal = {
  errno: EINVAL,
  message: 'Can not replace a nexthop with a nexthop group.',
};
export const LINK_OF_NEXTHOP_DOWN: Refusal = { errno: ENETDOWN, message: 'Nexthop device is not up' };
export const NO_TABLE: Refusal = { errno: EINVAL, message: 'Invalid VRF table id' };
export const VRF_IN_VRF: Refusal = { errno: EINVAL, message: 'Can not enslave an L3 master device to a VRF' };
export const UP_BEFORE_BOND: Refusal = {
  errno: constants.errno.EPERM,
  message: 'Device can not be enslaved while up',
};
