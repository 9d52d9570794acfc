// Names of operations and their targets in errors, and hints.
import { joinHostPort } from '../net/address.js';
import type { Attempt } from '../shared/failures.js';
import { HOST, hasModule, type Machine, moduleHint, recent } from '../shared/hints.js';
import { portOf } from './operations.js';
import type { IpvsOperation, VirtualServiceId } from './types.js';

/** `tcp 10.96.0.1:443`, `fwmark 1 ipv6`. Accepts any value: operations that break rules have names too. */
export function nameService(id: VirtualServiceId | undefined): string {
  if (typeof id !== 'object' || id === null) return String(id);
  if ('firewallMark' in id) return `fwmark ${id.firewallMark}${id.family === 6 ? ' ipv6' : ''}`;
  return `${id.protocol} ${joinHostPort(String(id.address), String(id.port))}`;
}

/** Names an operation and its target, with hints. */
export function attemptOf(operation: IpvsOperation): Attempt {
  return {
    operation: `ipvs.${operation?.do}`,
    target: targetOf(operation),
    hint: (code, said) => hintFor(operation, code, said),
  };
}

function targetOf(operation: IpvsOperation): string | undefined {
  switch (operation?.do) {
    case 'setTimeouts':
    case 'flush':
      return undefined;
    case 'zero':
      return operation.service && nameService(operation.service);
    case 'startDaemon':
      return `${operation.daemon?.state} on ${operation.daemon?.interface}`;
    case 'stopDaemon':
      return String(operation.state);
    case 'addRealServer':
    case 'updateRealServer':
    case 'deleteRealServer': {
      const { service, realServer } = operation;
      if (!service || !realServer) return `${nameService(service)} -> ${realServer}`;
      const port = String(portOf(service, realServer));
      return `${nameService(service)} -> ${joinHostPort(String(realServer.address), port)}`;
    }
    default:
      return nameService(operation?.service);
  }
}

function hintFor(operation: IpvsOperation, code: string, said: string | undefined): string | undefined {
  switch (operation.do) {
    case 'addService':
    case 'updateService': {
      if (code !== 'ENOENT' || said !== undefined) return hintAtModule(code, said);
      const { scheduler, persistenceEngine } = operation.service;
      return recent(`ip_vs_${scheduler} ${persistenceEngine}`, () =>
        schedulerHint(scheduler, persistenceEngine),
      );
    }
    case 'startDaemon':
      return hintAtDaemon(code) ?? hintAtModule(code, said);
    case 'addRealServer':
      return said === NO_LOCAL_TABLE ? NO_LOOPBACK : hintAtModule(code, said);
    default:
      return hintAtModule(code, said);
  }
}

// Messages of the addon: native/ipvs/client.h.
const NO_FAMILY = 'the kernel has no IPVS';
const NO_LOCAL_TABLE = 'the network namespace has no local routing table';

// The kernel looks up the type of an address in that table (inet_addr_type()). Without it, no address is unicast.
const NO_LOOPBACK = 'the kernel refuses every IPv4 real server there: set lo up (ip link set lo up)';

/**
 * The hint after the kernel did not find a scheduler or a persistence engine. The kernel loads their modules by itself, so the module of
 * the unknown name is missing. A module that is loaded or built in cannot be the cause, and has no hint.
 */
export function schedulerHint(
  scheduler = 'wlc',
  persistenceEngine?: string,
  machine: Machine = HOST,
): string | undefined {
  const wanted: [name: string, module: string][] = [[`scheduler ${scheduler}`, `ip_vs_${scheduler}`]];
  if (persistenceEngine)
    wanted.push([`persistence engine ${persistenceEngine}`, `ip_vs_pe_${persistenceEngine}`]);
  const hints = wanted
    .filter(([, module]) => !hasModule(module, machine))
    .map(([name, module]) => `unknown ${name}: ${moduleHint(module, machine)}`);
  return hints.length === 0 ? undefined : hints.join('; or ');
}

function hintAtDaemon(code: string): string | undefined {
  switch (code) {
    case 'ENODEV':
      return 'there is no such interface in the network namespace';
    case 'EEXIST':
      return 'a daemon in this state runs already: stop it first';
    case 'EINVAL':
      return 'the group must be a multicast address, and no real server of another family than its virtual service';
    default:
      return undefined;
  }
}

function hintAtModule(code: string, said: string | undefined): string | undefined {
  if (code !== 'ENOENT' || said !== NO_FAMILY) return undefined;
  return recent('ip_vs', () => moduleHint('ip_vs'));
}

/** Names a call that does not carry a batch of operations. */
export function asking(verb: string, target?: string): Attempt {
  return { operation: `ipvs.${verb}`, target, hint: hintAtModule };
}

/** The listing of connections, which is a file. */
export const CONNECTIONS: Attempt = {
  operation: 'ipvs.connections',
  hint: (code) => (code === 'ENOENT' ? 'needs the kernel module ip_vs, and procfs at /proc' : undefined),
};
