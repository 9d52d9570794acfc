// The frontends in the rules of a mode as an inventory.
import type { ProgrammedFrontend } from '../../explain/inventory.js';
import { frontendsReport } from './frontendsReport.js';
import { frontendLines, matchingFrontends, sortedFrontends, titleOfFrontends } from './frontendsTable.js';
import type { Inventory } from './inventory.js';
import type { ServiceNames } from './names.js';

/**
 * The frontends that rules serve.
 *
 * @param list reads the rules with their counters
 * @param names of the agent or of objects; without them, those of the comments of rules
 * @param texts show only frontends that have one of these texts; none: all
 */
export function frontendsInventory(
  list: () => Promise<readonly ProgrammedFrontend[]>,
  names: ServiceNames,
  texts: readonly string[],
): Inventory<readonly ProgrammedFrontend[]> {
  return {
    what: 'frontend',
    orders: ['rate', 'bytes', 'name'],
    list,
    report(sample, order) {
      const report = frontendsReport(sample, names);
      const frontends = sortedFrontends(matchingFrontends(report.frontends, texts), order);
      return {
        size: frontends.length,
        result: { ...report, frontends },
        title: titleOfFrontends(frontends, order),
        lines: (options) => frontendLines(frontends, options),
      };
    },
  };
}
