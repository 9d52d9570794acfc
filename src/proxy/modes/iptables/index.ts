// iptables mode: load balancing by rules that translate addresses. Every Service port and endpoint has a chain.
import type { Family } from '../../../kernel/net/address.js';
import { checkArgument } from '../../../kernel/shapes.js';
import type { Mode } from '../mode.js';
import type { Result } from '../shared/program/result.js';
import { compare } from './plan/compare.js';
import { describe } from './plan/describe.js';
import { nodePortHosts } from './plan/host.js';
import { chainsBehind, type Item, isOurs, isUsed } from './plan/items.js';
import { keep } from './plan/keep.js';
import type { Operation } from './plan/operations.js';
import type { IptablesOptions } from './plan/options.js';
import { planNode } from './plan/planNode.js';
import { formOf, planService } from './plan/planService.js';
import { apply } from './program/apply.js';
import type { IptablesKernel } from './program/kernel.js';
import { mark, observe, observeAlone } from './program/observe.js';
import { refusedBy } from './program/refused.js';
import { KERNEL, OPTIONS } from './program/shapes.js';
import { type TableWatch, watchTables } from './program/tampering.js';

export type { Item } from './plan/items.js';
export { type Operation, ORDER } from './plan/operations.js';
export { IPTABLES_DEFAULTS, type IptablesOptions } from './plan/options.js';
export type { IptablesKernel } from './program/kernel.js';

/** Creates iptables mode from its pure parts and a kernel. */
export function createIptablesMode(kernel: IptablesKernel, options: IptablesOptions): Mode<Item, Operation> {
  checkArgument('createIptablesMode', 'kernel', kernel, KERNEL);
  checkArgument('createIptablesMode', 'options', options, OPTIONS);
  let tables: TableWatch | undefined;
  return {
    name: 'iptables',
    auditPeriod: options.auditPeriod,
    host: nodePortHosts(options),
    planService: (input, node) => planService(input, node, options),
    sharedEndpoints: { formOf },
    transactions: { refusedBy, dependsOn: chainsBehind },
    items: { isOurs, isUsed, keep },
    planNode: (_desired, node) => planNode(node, options),
    compare,
    describe,
    apply: async (operations) => {
      const results = await apply(kernel, operations);
      for (const family of refusedFamilies(operations, results)) tables?.look(family);
      return results;
    },
    observe: () => observe(kernel, options),
    mark: () => mark(kernel, options),
    observeAlone: (items) => observeAlone(kernel, options, items),
    watch: async (listener) => {
      tables = await watchTables(kernel.iptables, () => mark(kernel, options), options, listener);
      return tables;
    },
  };
}

/** The families in which the kernel refused a change of rules. */
function refusedFamilies(operations: readonly Operation[], results: readonly Result[]): Set<Family> {
  const families = new Set<Family>();
  for (const [i, { call }] of operations.entries()) {
    if (call.on === 'iptables' && results[i]?.code === 'ERR_PROCESS') families.add(call.family);
  }
  return families;
}
