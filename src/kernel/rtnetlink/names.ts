// Names of operations and their targets in errors, and hints.
import type { Attempt } from '../failures.js';
import type { RtnetlinkOperation } from './types.js';

/** Names an operation, its target (`10.96.0.1/32 dev kube-ipvs0`, `dev kube-ipvs0`) and hints. */
export function attemptOf(operation: RtnetlinkOperation): Attempt {
  const hint = (code: string) => hintFor(operation, code);
  return { operation: `rtnetlink.${operation?.do}`, target: targetOf(operation), hint };
}

/** The same for a listing: of one link, or of all. */
export function attemptToRead(verb: 'listLinks' | 'getLink' | 'listAddresses', link?: string): Attempt {
  return { operation: `rtnetlink.${verb}`, target: link === undefined ? link : `dev ${link}` };
}

function targetOf(operation: RtnetlinkOperation): string | undefined {
  switch (operation?.do) {
    case 'addLink':
      return `dev ${operation.name} type ${operation.kind}`;
    case 'deleteLink':
      return `dev ${operation.name}`;
    case 'addAddress':
    case 'deleteAddress': {
      const id = operation.address;
      return `${id?.address}/${id?.prefix} dev ${id?.link}`;
    }
    default:
      return undefined;
  }
}

function hintFor(operation: RtnetlinkOperation, code: string): string | undefined {
  if (operation.do === 'addLink' && code === 'EOPNOTSUPP') {
    return `the kernel does not know this kind: load its module (modprobe ${operation.kind})`;
  }
  if (operation.do === 'addAddress' && code === 'ENODEV') {
    return `there is no link ${operation.address.link}`;
  }
  if (operation.do === 'addAddress' && code === 'EACCES') {
    return `IPv6 is disabled: net.ipv6.conf.${operation.address.link}.disable_ipv6`;
  }
  return undefined;
}
