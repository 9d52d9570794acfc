// nftables mode: load balancing by maps. A packet needs one look-up; every Service port has a chain or, in layout `scalable`, shares one.
import type { Family } from '../../../kernel/net/address.js';
import { checkArgument } from '../../../kernel/shapes.js';
import type { Mode } from '../mode.js';
import type { ForeignChains } from '../nftablesRules/program/foreignChains.js';
import { TableWatch } from '../nftablesRules/program/watch.js';
import type { Result } from '../shared/program/result.js';
import { compare } from './plan/compare.js';
import { watchedTables } from './plan/fixedChains.js';
import { nodePortHosts } from './plan/host.js';
import type { Item } from './plan/items.js';
import { keep } from './plan/keep.js';
import type { Operation } from './plan/operations.js';
import type { NftablesOptions } from './plan/options.js';
import { affectsNode, groupOf, planNode } from './plan/planNode.js';
import { planService } from './plan/planService.js';
import { dependsOn } from './plan/references.js';
import { apply, prepare, type Transaction } from './program/apply.js';
import { describe } from './program/describe.js';
import type { NftablesKernel } from './program/kernel.js';
import { observe } from './program/observe.js';
import { observeAlone } from './program/observeAlone.js';
import { refusedBy } from './program/refused.js';
import { KERNEL, OPTIONS } from './program/shapes.js';

export type { Item } from './plan/items.js';
export { type Operation, ORDER } from './plan/operations.js';
export { NFTABLES_DEFAULTS, type NftablesLayout, type NftablesOptions } from './plan/options.js';
export type { NftablesKernel } from './program/kernel.js';

/** The plans of all Services have one form, however many endpoints there are. */
const ONE_FORM = () => '';

/** Creates nftables mode from its pure parts and a kernel. */
export function createNftablesMode(kernel: NftablesKernel, options: NftablesOptions): Mode<Item, Operation> {
  return nftablesMode(kernel, options);
}

/** The same. @param foreign has what is not of this mode in its tables, after each reading of all items */
export function nftablesMode(
  kernel: NftablesKernel,
  options: NftablesOptions,
  foreign?: ForeignChains,
): Mode<Item, Operation> {
  checkArgument('createNftablesMode', 'kernel', kernel, KERNEL);
  checkArgument('createNftablesMode', 'options', options, OPTIONS);
  const tables = new TableWatch<Item>(kernel, watchedTables(options.families));
  const prepared = new WeakMap<readonly Operation[], readonly Transaction[]>();
  return {
    name: 'nftables',
    auditPeriod: options.auditPeriod,
    host: nodePortHosts(options),
    planService: (input, node) => planService(input, node, options),
    // In layout `scalable`, each frontend has endpoints of its own.
    ...(options.layout === 'kube-proxy' && { sharedEndpoints: { formOf: ONE_FORM } }),
    // Each transaction makes the kernel validate the tables. In layout `kube-proxy`, chains take it so long that Services must not wait for more.
    pieces: { largest: options.layout === 'scalable' ? 8192 : 2048, ahead: true },
    transactions: { refusedBy, dependsOn },
    // The tables are ours with all that is read of them.
    items: { isOurs: () => true, keep, groups: { of: groupOf, affectsNode } },
    planNode: (desired, node) => planNode(desired, node, options),
    compare,
    describe,
    prepare: async (operations) => {
      prepared.set(operations, await prepare(operations));
    },
    apply: async (operations) => {
      const results = await apply(kernel, tables, operations, prepared.get(operations));
      for (const family of familiesLacking(operations, results)) tables.look(family);
      return results;
    },
    observe: (whole = false) => observe(kernel, options, whole, foreign),
    observeAlone: (items) => observeAlone(kernel, options, items.keys()),
    watch: (listener) => tables.start(listener),
  };
}

/** The families in which the kernel did not find what a change needs. */
function familiesLacking(operations: readonly Operation[], results: readonly Result[]): Set<Family> {
  const families = new Set<Family>();
  for (const [i, { item }] of operations.entries())
    if (results[i]?.code === 'ENOENT') families.add(item.family);
  return families;
}
