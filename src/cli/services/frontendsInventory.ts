// The frontends in the rules of a mode as an inventory.
import type { ProgrammedFrontend } from '../../explain/inventory.js';
import { type FrontendReport, frontendName, frontendsReport } from './frontendsReport.js';
import { frontendLines } from './frontendsTable.js';
import { type Inventory, inventoryOf, sumOf } from './inventory.js';
import type { ServiceNames } from './names.js';
import { shortNumber } from './table.js';

/**
 * The frontends that rules serve.
 *
 * @param list reads the rules with their counters
 * @param names of the agent or of objects; without them, those of the comments of rules
 * @param texts show only frontends that have one of these texts; none: all
 * @param counted whether the rules have counters, by which frontends can be sorted
 */
export function frontendsInventory(
  list: () => Promise<readonly ProgrammedFrontend[]>,
  names: ServiceNames,
  texts: readonly string[],
  counted = true,
): Inventory<readonly ProgrammedFrontend[]> {
  return inventoryOf<readonly ProgrammedFrontend[], FrontendReport, 'frontends'>(
    {
      what: 'frontend',
      field: 'frontends',
      list,
      report: (sample) => frontendsReport(sample, names),
      addressOf: frontendName,
      orders: counted
        ? {
            rate: ({ rates, counters }) => (rates ?? counters)?.connections ?? 0,
            bytes: ({ rates, counters }) => (rates ?? counters)?.bytes ?? 0,
          }
        : {},
      sums: (frontends) =>
        counted ? [`${shortNumber(sumOf(frontends, ({ rates }) => rates?.connections ?? 0))} new/s`] : [],
      lines: frontendLines,
    },
    texts,
  );
}
