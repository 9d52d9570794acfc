// The virtual services of IPVS as an inventory.
import type { Ipvs, VirtualServiceState } from '../../kernel/ipvs/types.js';
import type { Inventory } from './inventory.js';
import type { ServiceNames } from './names.js';
import { servicesReport } from './report.js';
import { matching, serviceLines } from './table.js';
import { ORDERS, sorted, titleLine } from './topScreen.js';

/** The listing of the kernel. */
type Listing = readonly VirtualServiceState[];

/**
 * The virtual services of a kernel.
 *
 * @param texts show only virtual services that have one of these texts; none: all
 */
export function ipvsInventory(
  ipvs: Pick<Ipvs, 'list'>,
  names: ServiceNames,
  texts: readonly string[],
): Inventory<Listing> {
  return {
    what: 'virtual service',
    orders: ORDERS,
    list: () => ipvs.list(),
    report(sample, order) {
      const report = servicesReport(sample, names);
      const virtualServices = sorted(matching(report.virtualServices, texts), order);
      return {
        size: virtualServices.length,
        result: { ...report, virtualServices },
        title: titleLine(virtualServices, order),
        lines: (options) => serviceLines(virtualServices, options),
      };
    },
  };
}
