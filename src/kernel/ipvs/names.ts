// Names of operations and their targets in errors, and hints.
import { joinHostPort } from '../../net/address.js';
import type { Attempt } from '../failures.js';
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
      // The kernel asks for the module of a scheduler by itself: ENOENT means that there was none to load.
      if (code !== 'ENOENT') return undefined;
      const { scheduler = 'wlc', persistenceEngine } = operation.service;
      const modules = [`ip_vs_${scheduler}`, ...(persistenceEngine ? [`ip_vs_pe_${persistenceEngine}`] : [])];
      return `unknown scheduler${persistenceEngine ? ' or persistence engine' : ''}: load ${modules.join(' or ')}`;
    }
    case 'startDaemon':
      return hintAtDaemon(code) ?? hintAtModule(code, said);
    case 'deleteService':
    case 'addRealServer':
    case 'updateRealServer':
    case 'deleteRealServer':
      return undefined;
    default:
      return hintAtModule(code, said);
  }
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

// ENOENT of a call that asks for no object: there is no family IPVS. Earlier failures, as of the path of a network namespace,
// have a message of their own.
function hintAtModule(code: string, said: string | undefined): string | undefined {
  if (code !== 'ENOENT' || said !== undefined) return undefined;
  return 'load the kernel module ip_vs (modprobe ip_vs)';
}

/** Names a call that is no batch. */
export function asking(verb: string, target?: string): Attempt {
  return { operation: `ipvs.${verb}`, target, hint: hintAtModule };
}

/** The listing of connections, which is a file. */
export const CONNECTIONS: Attempt = {
  operation: 'ipvs.connections',
  hint: (code) => (code === 'ENOENT' ? 'needs the kernel module ip_vs, and procfs at /proc' : undefined),
};
