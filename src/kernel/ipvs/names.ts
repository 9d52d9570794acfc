// Names of operations and their targets in errors, and hints.
import type { Attempt } from '../failures.js';
import type { IpvsOperation, RealServerId, VirtualServiceId } from './types.js';

/** `tcp 10.96.0.1:443`, `fwmark 1 ipv6`. Accepts any value: operations that break rules have names too. */
export function nameService(id: VirtualServiceId | undefined): string {
  if (typeof id !== 'object' || id === null) return String(id);
  if ('firewallMark' in id) return `fwmark ${id.firewallMark}${id.family === 6 ? ' ipv6' : ''}`;
  return `${id.protocol} ${nameEndpoint(id)}`;
}

/** Names an operation and its target, with hints. */
export function attemptOf(operation: IpvsOperation): Attempt {
  const service = nameService(operation?.service);
  const server = (operation as { realServer?: RealServerId } | undefined)?.realServer;
  const target = server === undefined ? service : `${service} -> ${nameEndpoint(server)}`;
  return { operation: `ipvs.${operation?.do}`, target, hint: (code) => hintFor(operation, code) };
}

function nameEndpoint(id: RealServerId | undefined): string {
  const address = String(id?.address);
  return address.includes(':') ? `[${address}]:${id?.port}` : `${address}:${id?.port}`;
}

function hintFor(operation: IpvsOperation, code: string): string | undefined {
  const settings = operation.do === 'addService' || operation.do === 'updateService';
  // The kernel asks for the module of a scheduler by itself: ENOENT means that there was none to load.
  if (!settings || code !== 'ENOENT') return undefined;
  const { scheduler, persistenceEngine } = operation.service;
  const modules = [`ip_vs_${scheduler}`, ...(persistenceEngine ? [`ip_vs_pe_${persistenceEngine}`] : [])];
  return `unknown scheduler${persistenceEngine ? ' or persistence engine' : ''}: load ${modules.join(' or ')}`;
}

// ENOENT of a call without a target: there is no family IPVS. Earlier failures, as of the path of a network namespace, have
// a message of their own.
function hintAtModule(code: string, said: string | undefined): string | undefined {
  if (code !== 'ENOENT' || said !== undefined) return undefined;
  return 'load the kernel module ip_vs (modprobe ip_vs)';
}

/** Names a call that is no batch. */
export function asking(verb: string, target?: string): Attempt {
  return { operation: `ipvs.${verb}`, target, hint: hintAtModule };
}
