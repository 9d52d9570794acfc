// Operations that fail because lo is down: without it, a network namespace has no route to the addresses of the host itself.
import { NetlinkError } from '../errors.js';
import { parseAddressAsIs } from '../net/address.js';
import { mayBeLoopback } from './hints.js';
import type { NewRoute, RouteQuery, RtnetlinkOperation } from './types.js';

const LOOPBACK = 'lo';
const HINT = 'lo is down in the network namespace: set it up (ip link set lo up)';

/** Whether an operation leads to lo, or to an address that only lo has. */
export function leadsToLoopback(operation: RtnetlinkOperation): boolean {
  switch (operation.do) {
    case 'addRoute':
    case 'changeRoute':
    case 'replaceRoute':
    case 'appendRoute':
      return routeLeadsToLoopback(operation.route);
    default:
      return false;
  }
}

function routeLeadsToLoopback({ link, gateway, preferredSource, nextHops = [] }: NewRoute): boolean {
  const hops = [{ link, gateway }, ...nextHops];
  return isLoopback(preferredSource) || hops.some((hop) => hop.link === LOOPBACK || isLoopback(hop.gateway));
}

/** The same for a question for the route to an address. */
export function questionLeadsToLoopback(address: string, { from, outputLink }: RouteQuery = {}): boolean {
  return isLoopback(address) || isLoopback(from) || outputLink === LOOPBACK;
}

/** 127.0.0.0/8 and ::1. */
function isLoopback(address: string | undefined): boolean {
  const bytes = address === undefined ? undefined : parseAddressAsIs(address);
  if (!bytes) return false;
  if (bytes.length === 4) return bytes[0] === 127;
  return bytes[15] === 1 && bytes.subarray(0, 15).every((byte) => byte === 0);
}

/** Whether lo may be the cause of an error. */
export function isRefusedRoute(error: unknown): error is NetlinkError {
  return error instanceof NetlinkError && mayBeLoopback(error.code, error.kernelMessage);
}

/**
 * The error, with the hint that lo is down if that may be the cause: the kernel refused an operation that `leads` to lo, and
 * `isDown` finds it down.
 */
export async function explained<E>(
  error: E,
  leads: () => boolean,
  isDown: () => Promise<boolean>,
): Promise<E | NetlinkError> {
  if (!isRefusedRoute(error) || !leads() || !(await isDown())) return error;
  const { code, errno, operation, target, kernelMessage } = error;
  return new NetlinkError({ code, errno, operation, target, kernelMessage, hint: HINT });
}
