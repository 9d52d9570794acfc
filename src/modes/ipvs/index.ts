// ipvs mode: kernel-level load balancing by IPVS, with ipset and a constant number of iptables rules around it.
import { NetlinkError } from '../../errors.js';
import type { Mode, Upkeep } from '../mode.js';
import { apply } from './apply.js';
import { compare, isSame } from './compare.js';
import { describe } from './describe.js';
import { Drains } from './drains.js';
import { ChangedFlows, FLOW_LOOK } from './flows.js';
import { hostChange, hostViewer, isDisturbed, isDisturbedBy, isRelevant } from './hostAddresses.js';
import { groupOf, type Item, isOurs } from './items.js';
import { keep } from './keep.js';
import type { IpvsKernel } from './kernel.js';
import { observe } from './observe.js';
import { observeAlone } from './observeAlone.js';
import { learn, type Operation, subjectOf } from './operations.js';
import type { IpvsOptions } from './options.js';
import { affectsNode, planNode } from './planNode.js';
import { planService } from './planService.js';

export { hostViewer } from './hostAddresses.js';
export type { Item } from './items.js';
export type { IpvsKernel } from './kernel.js';
export { type Operation, ORDER } from './operations.js';
export { CURES, type Cure, IPVS_DEFAULTS, type IpvsOptions, type LocalDetector } from './options.js';
export { checkScheduler, prepare, probeScheduler } from './prepare.js';

/** Wires the pure parts of ipvs mode to a kernel. */
export function createIpvsMode(kernel: IpvsKernel, options: IpvsOptions): Mode<Item, Operation> {
  const drains = new Drains();
  const flows = new ChangedFlows();
  const view = hostViewer(options);
  return {
    name: 'ipvs',
    planService: (frontends, node, former) => planService(frontends, node, view(node), options, former),
    planNode: (desired, node) => planNode(desired, node, options),
    affectsNode,
    isRelevant: (address, node) => isRelevant(address, node, options),
    hostChange: (before, after) => hostChange(view(before), view(after)),
    isDisturbedBy,
    isDisturbed,
    groupOf,
    isExclusive: (key) => key.startsWith('virtual server '),
    isOurs,
    compare,
    isSame,
    keep,
    planned: (service, frontends) => flows.planned(service, frontends),
    learn: (known, operation) => {
      learn(known, operation);
      drains.learn(operation);
    },
    subjectOf,
    describe,
    apply: (operations) => apply(kernel, operations),
    async *observe() {
      for await (const piece of observe(kernel, options)) {
        drains.observe(piece);
        yield piece;
      }
    },
    async observeAlone(items, desired) {
      const found = await observeAlone(kernel, options, items, desired);
      drains.observe(found.items);
      return found;
    },
    upkeep: async (pass) => {
      const found = [
        await drains.due(kernel.ipvs, pass, options.drainBound),
        await attempt('flows', flows.due(kernel.conntrack, pass)),
      ];
      return {
        draining: drains.size,
        operations: found.flatMap(({ operations }) => operations),
        failures: found.flatMap(({ failures }) => failures),
      };
    },
    upkeepIn(now) {
      if (flows.any) return FLOW_LOOK;
      return drains.nextDue === undefined ? undefined : Math.max(0, drains.nextDue - now);
    },
  };
}

/** A kernel error becomes a failure of its own, and prevents nothing else. */
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
