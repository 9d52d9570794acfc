// iptables mode: load balancing by rules that translate addresses. Every Service port and endpoint has a chain.
import type { Family } from '../../net/address.js';
import type { Mode } from '../mode.js';
import type { Result } from '../shared/result.js';
import { apply } from './apply.js';
import { compare, isSame } from './compare.js';
import { describe } from './describe.js';
import { nodePortHosts } from './host.js';
import { chainsBehind, type Item, isOurs } from './items.js';
import { keep } from './keep.js';
import type { IptablesKernel } from './kernel.js';
import { observe, observeAlone } from './observe.js';
import { learn, type Operation, subjectOf } from './operations.js';
import type { IptablesOptions } from './options.js';
import { planNode } from './planNode.js';
import { formOf, planService } from './planService.js';
import { refusedBy } from './refused.js';
import { type TableWatch, watchTables } from './tampering.js';

export type { Item } from './items.js';
export type { IptablesKernel } from './kernel.js';
export { type Operation, ORDER } from './operations.js';
export { IPTABLES_DEFAULTS, type IptablesOptions } from './options.js';

/** Creates iptables mode from its pure parts and a kernel. */
export function createIptablesMode(kernel: IptablesKernel, options: IptablesOptions): Mode<Item, Operation> {
  let tables: TableWatch | undefined;
  return {
    name: 'iptables',
    sharesEndpoints: true,
    auditPeriod: options.auditPeriod,
    host: nodePortHosts(options),
    planService: (input, node) => planService(input, node, options),
    formOf,
    planNode: (_desired, node) => planNode(node, options),
    affectsNode: () => false,
    groupOf: () => undefined,
    isOurs,
    compare,
    isSame,
    keep,
    learn,
    dependsOn: chainsBehind,
    subjectOf,
    refusedBy,
    describe,
    apply: async (operations) => {
      const results = await apply(kernel, operations);
      for (const family of refusedFamilies(operations, results)) tables?.look(family);
      return results;
    },
    observe: () => observe(kernel, options),
    observeAlone: (items) => observeAlone(kernel, options, items),
    watch: async (listener) => {
      tables = await watchTables(kernel.iptables, options, listener);
      return tables;
    },
    explain: async (question) => {
      // Imported late, so that the agent does not load them.
      const { readFacts } = await import('./explain/readFacts.js');
      const { explainPacket } = await import('./explain/explainPacket.js');
      return explainPacket(await readFacts(kernel, question), question, options);
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
