// The modes of the agent's tests, each on a fake kernel.

import { FakeKernel } from '../../src/kernel/testing/index.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../src/modes/ipvs/index.js';
import { mapKernel } from './mapMode/index.js';
import type { TestKernel } from './testKernel.js';

/** Mode → creates an empty kernel. */
export const TEST_MODES: Readonly<Record<string, () => TestKernel>> = {
  ipvs: ipvsKernel,
  map: mapKernel,
};

function ipvsKernel(): TestKernel {
  const kernel = Object.assign(new FakeKernel(), {
    watchHost: async () => ({ close() {} }),
    close() {},
  });
  const { ipvs, ipset, rtnetlink } = kernel;
  return {
    open(auditPeriod) {
      const options = { ...IPVS_DEFAULTS, families: [4] as const, auditPeriod, kernelRelease: '6.1.0' };
      return {
        mode: createIpvsMode(kernel, options),
        families: options.families,
        minSyncPeriod: 0,
        kernel,
        parts: kernel,
      };
    },
    state: () => [ipvs.dump(), ipset.dump(), rtnetlink.dump('kube-ipvs0')].join('\n'),
    leadsTo: (dialled, endpoint) => ipvs.dump().includes(`-a -t ${dialled} -r ${endpoint}`),
  };
}
