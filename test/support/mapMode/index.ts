// The map mode for the agent's tests.
import type { TestKernel } from '../fakes/testKernel.js';
import { MapKernel } from './mapKernel.js';
import { createMapMode } from './mapMode.js';

/** An empty kernel for the map mode. */
export function mapKernel(): TestKernel {
  const kernel = new MapKernel();
  const entries = () => [...(kernel.table ?? [])];
  return {
    open: (auditPeriod) => ({
      mode: createMapMode(kernel, auditPeriod),
      families: [4],
      minSyncPeriod: 0,
      kernel: kernel.host,
      metrics: {},
    }),
    state: () =>
      entries()
        .map(([name, endpoints]) => `${name} -> ${endpoints.join(', ')}\n`)
        .join(''),
    serves: (dialled) => entries().some(([name]) => name === `${dialled}/tcp`),
    leadsTo: (dialled, endpoint) =>
      entries().some(([name, endpoints]) => name === `${dialled}/tcp` && endpoints.includes(endpoint)),
  };
}
