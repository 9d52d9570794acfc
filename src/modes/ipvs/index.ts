// ipvs mode: load balancing in the kernel by IPVS, with ipsets and a constant number of iptables rules.

import { type EndpointsByFamily, joinEndpoints } from '../../services/leftEndpoints.js';
import type { Mode } from '../mode.js';
import { nodePortHost } from '../shared/nodePortAddresses.js';
import { apply } from './apply.js';
import { compare, isSame } from './compare.js';
import { describe } from './describe.js';
import { DrainingServers } from './draining.js';
import { protectedItems } from './excluded.js';
import { groupOf, type Item, isOurs, LINK } from './items.js';
import { keep } from './keep.js';
import type { IpvsKernel } from './kernel.js';
import { observe } from './observe.js';
import { observeAlone } from './observeAlone.js';
import { learn, type Operation, subjectOf } from './operations.js';
import type { IpvsOptions } from './options.js';
import { affectsNode, planNode } from './planNode.js';
import { planService, terminatingOf } from './planService.js';
import { watchDevice } from './tampering.js';

export type { LocalDetector } from '../shared/localDetector.js';
export type { Item } from './items.js';
export type { IpvsKernel } from './kernel.js';
export { type Operation, ORDER } from './operations.js';
export { CURES, type Cure, IPVS_DEFAULTS, type IpvsOptions } from './options.js';
export { checkScheduler, prepare, probeScheduler } from './prepare.js';

/** Creates ipvs mode from its pure parts and a kernel. */
export function createIpvsMode(kernel: IpvsKernel, options: IpvsOptions): Mode<Item, Operation> {
  const isProtected = protectedItems(options);
  const draining = new DrainingServers(isProtected);
  /** Service → endpoints that were terminating in its last plan; only Services with such endpoints. */
  const terminated = new Map<string, EndpointsByFamily>();
  /** Keys of the virtual services that this process added and has not deleted. */
  const made = new Set<string>();
  const { watchHost } = kernel;
  return {
    name: 'ipvs',
    auditPeriod: options.auditPeriod,
    host: nodePortHost({
      nodePortAddresses: options.nodePortAddresses,
      ownLink: LINK,
      onOwnLink: !options.cures.has('node-ports-off-vips'),
    }),
    *planService(input, node) {
      const ended = joinEndpoints(terminated.get(input.service), input.left);
      const plan = yield* planService(input, node, options, ended);
      // Those that left, too: if this pass is aborted, the next one plans the Service again.
      const terminating = joinEndpoints(terminatingOf(input), input.left);
      if (terminating) terminated.set(input.service, terminating);
      else terminated.delete(input.service);
      return plan;
    },
    forget: (service) => terminated.delete(service),
    planNode: (desired, node, outlook) => planNode(desired, node, outlook, options),
    affectsNode,
    groupOf,
    isOurs: (item) => isOurs(item) && !isProtected(item),
    compare: (desired, known, unknown = new Map()) => compare(desired, known, unknown, isProtected),
    isSame,
    keep,
    learn(known, operation) {
      learn(known, operation);
      draining.learn(operation);
      recordMade(made, operation);
    },
    subjectOf,
    describe,
    async apply(operations) {
      const results = await apply(kernel, operations);
      for (const [i, operation] of operations.entries()) {
        // The first error is that of a real server: the virtual service was added.
        if (results[i]?.operation === 'ipvs.addRealServer') recordMade(made, operation);
      }
      return results;
    },
    async *observe() {
      for await (const piece of observe(kernel, options, made)) {
        draining.observe(piece);
        yield piece;
      }
    },
    async observeAlone(items, desired) {
      const found = await observeAlone(kernel, options, items, desired);
      draining.observe(found.items);
      return found;
    },
    async maintain(pass) {
      return {
        ...(await draining.due(kernel.ipvs, pass, options.drainBound)),
        dueIn: () => draining.dueIn(pass.now),
        counts: () => ({ draining: draining.size }),
      };
    },
    explain: async (question) => {
      // Imported late, so that the agent does not load them.
      const { readFacts } = await import('./explain/readFacts.js');
      const { explainPacket } = await import('./explain/explainPacket.js');
      return explainPacket(await readFacts(kernel, question), question, options);
    },
    ...(watchHost && { watch: (listener) => watchDevice(kernel, watchHost, listener) }),
  };
}

function recordMade(made: Set<string>, { key, call }: Operation): void {
  if (call.on !== 'ipvs') return;
  if (call.change.verb === 'addService') made.add(key);
  else if (call.change.verb === 'deleteService') made.delete(key);
}
