// The virtual services of IPVS as an inventory.
import type { Ipvs, VirtualServiceState } from '../../../kernel/ipvs/types.js';
import { type Inventory, inventoryOf, sumOf } from './inventory.js';
import { type ServiceNames, virtualServiceName } from './names.js';
import { servicesReport, type VirtualServiceReport } from './report.js';
import { serviceLines, shortNumber } from './table.js';

/**
 * The virtual services of a kernel.
 *
 * @param texts show only virtual services that have one of these texts; none: all
 */
export function ipvsInventory(
  ipvs: Pick<Ipvs, 'list'>,
  names: ServiceNames,
  texts: readonly string[],
): Inventory<readonly VirtualServiceState[]> {
  return inventoryOf<readonly VirtualServiceState[], VirtualServiceReport, 'virtualServices'>(
    {
      what: 'virtual service',
      field: 'virtualServices',
      list: () => ipvs.list(),
      report: (sample) => servicesReport(sample, names),
      addressOf: virtualServiceName,
      orders: {
        rate: ({ rates }) => rates.connections,
        active: ({ activeConnections }) => activeConnections,
        inactive: ({ inactiveConnections }) => inactiveConnections,
        bytes: ({ rates }) => rates.inBytes + rates.outBytes,
      },
      sums: (services) => [
        `${sumOf(services, ({ activeConnections }) => activeConnections)} active`,
        `${sumOf(services, ({ inactiveConnections }) => inactiveConnections)} inactive`,
        `${shortNumber(sumOf(services, ({ rates }) => rates.connections))} new/s`,
      ],
      lines: serviceLines,
    },
    texts,
  );
}
