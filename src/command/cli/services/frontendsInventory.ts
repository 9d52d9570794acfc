// The frontends in the rules of a mode as an inventory.
import type { ProgrammedFrontend } from '../../explain/inventory.js';
import { type FrontendReport, frontendName, frontendsReport } from './frontendsReport.js';
import { frontendLines } from './frontendsTable.js';
import { type Inventory, type InventoryKind, inventoryOf, sumOf } from './inventory.js';
import type { ServiceNames } from './names.js';
import { shortNumber } from './table.js';

/**
 * The frontends that rules serve.
 *
 * @param list reads the rules with their counters
 * @param names of the agent or of objects; without them, those of the comments of rules
 * @param texts show only frontends that have one of these texts; none: all
 * @param counts the numbers by which frontends can be sorted: counters of rules, connections of conntrack, or none
 */
export function frontendsInventory(
  list: () => Promise<readonly ProgrammedFrontend[]>,
  names: ServiceNames,
  texts: readonly string[],
  counts: 'rules' | 'conntrack' | 'none' = 'rules',
): Inventory<readonly ProgrammedFrontend[]> {
  return inventoryOf<readonly ProgrammedFrontend[], FrontendReport, 'frontends'>(
    {
      what: 'frontend',
      field: 'frontends',
      list,
      report: (sample) => frontendsReport(sample, names),
      addressOf: frontendName,
      ...ORDERS_OF[counts],
      lines: frontendLines,
    },
    texts,
  );
}

/** The orders and sums of each origin of numbers. */
const ORDERS_OF: Readonly<
  Record<
    'rules' | 'conntrack' | 'none',
    Pick<InventoryKind<unknown, FrontendReport, 'frontends'>, 'orders' | 'sums'>
  >
> = {
  rules: {
    orders: {
      rate: ({ rates, counters }) => (rates ?? counters)?.connections ?? 0,
      bytes: ({ rates, counters }) => (rates ?? counters)?.bytes ?? 0,
    },
    sums: (frontends) => [`${shortNumber(sumOf(frontends, ({ rates }) => rates?.connections ?? 0))} new/s`],
  },
  conntrack: {
    orders: {
      active: ({ connections }) => connections?.active ?? 0,
      inactive: ({ connections }) => connections?.inactive ?? 0,
    },
    sums: (frontends) => [
      `${sumOf(frontends, ({ connections }) => connections?.active ?? 0)} active`,
      `${sumOf(frontends, ({ connections }) => connections?.inactive ?? 0)} inactive`,
    ],
  },
  none: { orders: {}, sums: () => [] },
};
