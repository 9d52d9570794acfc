// A kernel that accepts every operation and keeps nothing, so that all memory and all time are the agent's own.

import { createCountedMode } from '../../../src/command/modes/iptables/ruleCounts.js';
import type { OpenedMode } from '../../../src/command/modes/shared/definition.js';
import { restoreTablesInSteps } from '../../../src/kernel/iptables/text.js';
import type { IptablesOperation } from '../../../src/kernel/iptables/types.js';
import type { ChangePart } from '../../../src/kernel/ipvs/values/serverLists.js';
import { TimeSlice } from '../../../src/kernel/timeSlice.js';
import { IPTABLES_DEFAULTS } from '../../../src/proxy/modes/iptables/index.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../../src/proxy/modes/ipvs/index.js';
import { createNftablesMode, NFTABLES_DEFAULTS } from '../../../src/proxy/modes/nftables/index.js';
import { fakeHostKernel } from '../fakes/hostKernel.js';

/** No audit starts by itself: a day, in ms. An audit would find that the kernel is empty. */
const NEVER = 24 * 3600_000;

/** What the kernel has accepted. */
export interface Accepted {
  /** Operations on virtual services, real servers, sets, addresses and the tables of nftables mode. */
  operations: number;
  /** Bytes of the input of iptables-restore. */
  bytes: number;
}

/** Opens a mode on such a kernel, for IPv4. */
export function openAccepting(mode: string, accepted: Accepted): Pick<OpenedMode, keyof Opened> {
  const kernel = acceptingKernel(accepted);
  const common = { families: [4] as const, minSyncPeriod: 0, kernel };
  const options = { families: [4] as const, auditPeriod: NEVER };
  if (mode === 'iptables') {
    const counted = createCountedMode(kernel, { ...IPTABLES_DEFAULTS, ...options });
    return { ...common, mode: counted.mode, metrics: { ruleCounts: counted.take } };
  }
  if (mode === 'nftables')
    return { ...common, mode: createNftablesMode(kernel, { ...NFTABLES_DEFAULTS, ...options }), metrics: {} };
  const ipvs = createIpvsMode(kernel, { ...IPVS_DEFAULTS, ...options, kernelRelease: '6.1.0' });
  return { ...common, mode: ipvs, metrics: { parts: { ipvs: kernel.ipvs, ipset: kernel.ipset } } };
}

type Opened = Omit<OpenedMode, 'prepare' | 'probe' | 'check' | 'rules'>;

function acceptingKernel(accepted: Accepted) {
  const kernel = fakeHostKernel();
  const accept = async (operations: readonly unknown[]) => {
    accepted.operations += operations.length;
    return new Array<undefined>(operations.length).fill(undefined);
  };
  Object.assign(kernel.ipset, { apply: accept });
  Object.assign(kernel.rtnetlink, { apply: accept });
  Object.assign(kernel.nftables, { apply: accept });
  Object.assign(kernel.ipvs, {
    applyChanges: (parts: readonly ChangePart[]) =>
      accept(new Array(parts.reduce((sum, { from, to }) => sum + to - from, 0))),
  });
  Object.assign(kernel.iptables, {
    async restore(_: number, operations: readonly IptablesOperation[]) {
      for (const { input } of await new TimeSlice().finish(restoreTablesInSteps(operations)))
        for (const piece of input) accepted.bytes += piece.length;
      return accept(operations);
    },
  });
  return kernel;
}
