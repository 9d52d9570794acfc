// ipvs mode: kernel-level load balancing by IPVS, with ipset and a constant number of iptables rules around it.
import { NetlinkError } from '../../errors.js';
import type { Mode, Upkeep } from '../mode.js';
import { apply } from './apply.js';
import { compare } from './compare.js';
import { describe } from './describe.js';
import { DRAIN_LOOK, Drains } from './drains.js';
import { ChangedFlows, FLOW_LOOK } from './flows.js';
import { hostViewer, isDisturbed, relevantAddresses } from './hostAddresses.js';
import { groupOf, type Item, isOurs } from './items.js';
import { keep } from './keep.js';
import type { IpvsKernel } from './kernel.js';
import { observe } from './observe.js';
import { learn, type Operation } from './operations.js';
import type { IpvsOptions } from './options.js';
import { planNode } from './planNode.js';
import { planService } from './planService.js';

export { hostViewer } from './hostAddresses.js';
export type { Item } from './items.js';
export type { IpvsKernel } from './kernel.js';
export { type Operation, ORDER } from './operations.js';
export { CURES, type Cure, IPVS_DEFAULTS, type IpvsOptions, type LocalDetector } from './options.js';
export { prepare, probeScheduler } from './prepare.js';

/** Wires the pure parts of ipvs mode to a kernel. */
export function createIpvsMode(kernel: IpvsKernel, options: IpvsOptions): Mode<Item, Operation> {
  const drains = new Drains();
  const flows = new ChangedFlows();
  const view = hostViewer(options);
  return {
    name: 'ipvs',
    planService: (frontends, node, former) => planService(frontends, node, view(node), options, former),
    planNode: (desired, node) => planNode(desired, node, options),
    relevantAddresses: (addresses) => relevantAddresses(addresses, options),
    isDisturbed,
    groupOf,
    isExclusive: (key) => key.startsWith('virtual server '),
    isOurs,
    compare,
    keep,
    planned: (frontends) => flows.notice(frontends),
    learn: (known, operation) => {
      learn(known, operation);
      drains.learn(operation);
    },
    describe,
    apply: (operations) => apply(kernel, operations),
    observe: async () => {
      const known = await observe(kernel, options);
      drains.observe(known);
      return known;
    },
    upkeep: async (pass) => {
      const found = [
        await attempt('draining real servers', drains.due(kernel.ipvs, pass, options.drainBound)),
        await attempt('flows', flows.due(kernel.conntrack, pass)),
      ];
      return {
        draining: drains.size,
        operations: found.flatMap(({ operations }) => operations),
        failures: found.flatMap(({ failures }) => failures),
      };
    },
    upkeepIn: () => (flows.any ? FLOW_LOOK : drains.size > 0 ? DRAIN_LOOK : undefined),
  };
}

/** What cannot be found out is told as a failure, and keeps nothing else from being done. */
async function attempt(
  key: string,
  operations: Promise<Operation[]>,
): Promise<Omit<Upkeep<Operation>, 'draining'>> {
  try {
    return { operations: await operations, failures: [] };
  } catch (error) {
    if (!(error instanceof NetlinkError)) throw error;
    return { operations: [], failures: [{ key, error }] };
  }
}
