// Decides whether a pass failed for all Services: the node cannot be programmed, and not only one Service is refused. Pure.
import type { NetlinkError } from '../../kernel/errors.js';
import type { Failure, SyncSummary } from '../../proxy/reconcile/summary.js';

/**
 * Codes of failures that have their cause in the node, whatever the Service has: the lock of iptables is held, a program or
 * library is missing or ends, rights are missing.
 */
const OF_THE_NODE = new Set([
  'EACCES',
  'EPERM',
  'ERR_CLOSED',
  'ERR_LIBRARY',
  'ERR_TIMEOUT',
  'ERR_UNKNOWN_OUTCOME',
]);

/** Codes of the writing of a setting that this process, and each that takes its place, may not change. */
const NOT_WRITABLE = new Set(['EACCES', 'EPERM', 'EROFS']);

/** Number of namespaces whose Services must be refused before the node is at fault. A tenant may have one. */
const NAMESPACES = 2;

/** The part of a summary that decides. */
type PassResults = Pick<SyncSummary, 'failures' | 'accepted' | 'unknown' | 'vitalUnknown' | 'mostRefused'>;

/**
 * What the failures up to a pass concern: all Services; only settings, which all Services share and this process may not write, so
 * that a restart does not help; or neither, at most single Services.
 */
type Concern = 'all' | 'settings' | 'none';

/** Follows the passes of a proxy. */
export class Refusals {
  /** Namespaces with refused Services since the kernel accepted an operation for the last time. */
  readonly #namespaces = new Set<string>();
  #all = false;

  /**
   * What is concerned after this pass. All Services are if the state that they share was refused, or most Services of most
   * namespaces; or if the kernel has accepted nothing since a failure of the node, or since Services of two namespaces were refused.
   */
  after({ failures, accepted, unknown, vitalUnknown, mostRefused }: PassResults): Concern {
    const isConsequence = (error: NetlinkError) => isNotWritable(error) || error.code === 'ERR_HELD_BACK';
    const refused = failures.filter(({ error }) => !isAboutFlows(error) && !isConsequence(error));
    const settings = vitalUnknown.filter(isConsequence).length;
    if (accepted > 0 || (refused.length === 0 && unknown === settings)) {
      this.#namespaces.clear();
      this.#all = false;
    }
    if (accepted === 0) {
      for (const { services = [] } of refused)
        for (const service of services) this.#namespaces.add(service.split('/')[0] ?? '');
      this.#all ||= this.#namespaces.size >= NAMESPACES || refused.some(isOfTheNode);
    }
    const vital = refused.some((failure) => failure.vital) || vitalUnknown.length > settings;
    if (this.#all || mostRefused || vital) return 'all';
    return settings > 0 || failures.some(({ error }) => isNotWritable(error)) ? 'settings' : 'none';
  }
}

function isOfTheNode({ error: { code, operation } }: Failure): boolean {
  return OF_THE_NODE.has(code) || (code === 'ENOENT' && operation === 'iptables.restore');
}

/** Stale flows are deleted after the rules are in place: a failure leaves Services working. */
function isAboutFlows({ operation = '' }: Failure['error']): boolean {
  return operation.startsWith('conntrack.');
}

function isNotWritable({ code, operation }: NetlinkError): boolean {
  return operation === 'sysctl.write' && NOT_WRITABLE.has(code);
}
