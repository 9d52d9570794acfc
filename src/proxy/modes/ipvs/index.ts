// ipvs mode: load balancing in the kernel by IPVS, with ipsets and a constant number of iptables rules, or with the same in a table of nf_tables.

import { checkArgument } from '../../../kernel/shapes.js';
import type { Mode } from '../mode.js';
import { TableWatch } from '../nftablesRules/program/watch.js';
import { nodePortHost } from '../shared/plan/nodePortAddresses.js';
import { compare } from './plan/compare.js';
import { describe } from './plan/describe.js';
import { protectedItems } from './plan/excluded.js';
import { groupOf, type Item, isOurs, isUsed, LINK, type VirtualServiceItem } from './plan/items.js';
import { keep } from './plan/keep.js';
import type { Operation } from './plan/operations.js';
import type { IpvsOptions } from './plan/options.js';
import { affectsNode, planNode } from './plan/planNode.js';
import { planService } from './plan/planService.js';
import { withScheduler } from './plan/serviceSettings.js';
import { isForeignSet } from './plan/sets.js';
import { startingSlowly } from './plan/slowStart.js';
import { watchedTables } from './plan/tableChains.js';
import { apply } from './program/apply.js';
import { describeInTable } from './program/describeTable.js';
import { DrainingServers } from './program/draining.js';
import { HandOver } from './program/handOver.js';
import type { IpvsKernel } from './program/kernel.js';
import { observe } from './program/observe.js';
import { observeAlone } from './program/observeAlone.js';
import { KERNEL, OPTIONS } from './program/shapes.js';
import { SlowStarts } from './program/slowStarts.js';
import { watchDevice } from './program/tampering.js';

export type { LocalDetector } from '../shared/plan/localDetector.js';
export type { Item } from './plan/items.js';
export { type Operation, ORDER } from './plan/operations.js';
export { CURES, type Cure, IPVS_DEFAULTS, type IpvsOptions } from './plan/options.js';
export type { IpvsKernel } from './program/kernel.js';
export { checkScheduler, prepare, probeScheduler } from './program/prepare.js';

/** Creates ipvs mode from its pure parts and a kernel. */
export function createIpvsMode(kernel: IpvsKernel, options: IpvsOptions): Mode<Item, Operation> {
  checkArgument('createIpvsMode', 'kernel', kernel, KERNEL);
  checkArgument('createIpvsMode', 'options', options, OPTIONS);
  const isProtected = protectedItems(options);
  const draining = new DrainingServers(isProtected);
  /** Keys of the virtual services that this process added and has not deleted. */
  const made = new Set<string>();
  /** Schedulers of Services that this kernel refused because it has not their module: until the next start, the default replaces them. */
  const missing = new Set<string>();
  const usable = (want: VirtualServiceItem, have: VirtualServiceItem | undefined) =>
    startingSlowly(missing.has(want.service.scheduler) ? withScheduler(want, options.scheduler) : want, have);
  const slowStarts = new SlowStarts();
  const handOver = new HandOver();
  const { watchHost } = kernel;
  const tables = openTables(kernel, options);
  return {
    name: 'ipvs',
    auditPeriod: options.auditPeriod,
    host: nodePortHost({
      nodePortAddresses: options.nodePortAddresses,
      ownLink: LINK,
      onOwnLink: !options.cures.has('node-ports-off-vips'),
    }),
    items: {
      isOurs: (item) =>
        isOurs(item) && !isProtected(item) && !(item.kind === 'set' && isForeignSet(item.set)),
      isUsed,
      keep,
      groups: {
        of: groupOf,
        affectsNode: (group, before, now) => affectsNode(options.rules, group, before, now),
      },
    },
    planService: (input, node) => planService(input, node, options),
    planNode: (desired, node) => planNode(desired, node, options),
    compare(desired, known, unknown = new Map()) {
      handOver.begin(unknown);
      return compare(desired, known, unknown, isProtected, usable, options.rules);
    },
    acknowledged(operation) {
      draining.learn(operation);
      slowStarts.learn(operation);
      recordMade(made, operation);
    },
    describe: (operation, known) => describeInTable(operation, known) ?? describe(operation, known),
    async apply(operations) {
      const results = await handOver.apply(operations, (some) => apply(kernel, some, tables));
      for (const [i, operation] of operations.entries()) {
        if (results[i]?.code === 'ENOENT') recordMissing(missing, operation, options);
        // The first error is that of a real server: the virtual service was added.
        if (results[i]?.operation === 'ipvs.addRealServer') recordMade(made, operation);
      }
      return results;
    },
    async *observe() {
      for await (const piece of observe(kernel, options, made)) {
        draining.observe(piece);
        slowStarts.observe(piece);
        yield piece;
      }
    },
    async observeAlone(items, desired) {
      const found = await observeAlone(kernel, options, items, desired);
      draining.observe(found.items);
      slowStarts.observe(found.items);
      return found;
    },
    upkeep: {
      ownConnections: true,
      async due(pass) {
        const { operations, failures } = await draining.due(kernel.ipvs, pass, options.drainBound);
        const steps = slowStarts.due(pass, new Set(operations.map(({ key }) => key)));
        return {
          operations: [...steps, ...operations],
          failures,
          dueIn: () => earliest(draining.dueIn(pass.now), slowStarts.dueIn(pass.now)),
          counts: () => ({
            draining: draining.size,
            ...(draining.timeouts > 0 && { drainTimeouts: draining.timeouts }),
          }),
        };
      },
    },
    ...((watchHost || tables) && {
      watch: (listener) =>
        watchAll([
          watchHost && (() => watchDevice(kernel, watchHost, listener)),
          tables && (() => tables.start(listener)),
        ]),
    }),
  };
}

/** The transactions of the mode, with rules of nf_tables. Throws a TypeError if the kernel has not its part. */
function openTables(kernel: IpvsKernel, { rules, families }: IpvsOptions): TableWatch<Item> | undefined {
  if (rules === 'iptables') return undefined;
  const { nftables } = kernel;
  if (!nftables) throw new TypeError('createIpvsMode: kernel.nftables is needed with rules nftables');
  return new TableWatch({ nftables }, watchedTables(families));
}

/** Opens all watches, or none. */
async function watchAll(
  openers: readonly ((() => Promise<{ close(): void }>) | undefined)[],
): Promise<{ close(): void }> {
  const opened: { close(): void }[] = [];
  const close = () => {
    for (const each of opened) each.close();
  };
  try {
    for (const open of openers) if (open) opened.push(await open());
  } catch (error) {
    close();
    throw error;
  }
  return { close };
}

function earliest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

/** The kernel refuses a virtual service with ENOENT if it has no module of its scheduler, which it tries to load itself. */
function recordMissing(missing: Set<string>, { call }: Operation, { scheduler }: IpvsOptions): void {
  if (call.on !== 'ipvs') return;
  const { verb, service } = call.change;
  const sets = verb === 'addService' || verb === 'updateService';
  if (sets && service.scheduler !== scheduler) missing.add(service.scheduler);
}

function recordMade(made: Set<string>, { key, call }: Operation): void {
  if (call.on !== 'ipvs') return;
  if (call.change.verb === 'addService') made.add(key);
  else if (call.change.verb === 'deleteService') made.delete(key);
}
