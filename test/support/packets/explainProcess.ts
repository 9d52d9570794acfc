// Explains packets in the network namespace of a node, for its parent.

import type { Iptables } from '../../../src/kernel/iptables/types.js';
import type { Explanation, PacketQuestion } from '../../../src/modes/explanation.js';
import { createIptablesMode, IPTABLES_DEFAULTS } from '../../../src/modes/iptables/index.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../../src/modes/ipvs/index.js';
import { openIpvsKernel } from '../../../src/modes/ipvs/open.js';
import type { Mode } from '../../../src/modes/mode.js';
import { openHostKernel } from '../../../src/modes/shared/hostKernel.js';
import { serveParent } from '../../laboratory/namespaceProcess.js';

/** Questions about one state of the kernel. */
export interface AskExplain {
  readonly mode: 'ipvs' | 'iptables';
  readonly questions: readonly PacketQuestion[];
}

const KERNELS = { ipvs: once(() => openIpvsKernel(false)), iptables: once(() => openHostKernel()) };

/** Rules and sets are read once for all questions: each rule listing is a process, which is slow on an emulated machine. */
function once<Key, Value>(read: (key: Key) => Promise<Value>): (key: Key) => Promise<Value> {
  const values = new Map<Key, Promise<Value>>();
  return (key) => {
    const value = values.get(key) ?? read(key);
    values.set(key, value);
    return value;
  };
}

const savedOnce = (iptables: Iptables): Iptables => ({
  ...iptables,
  saveTables: once((family) => iptables.saveTables(family)),
});

/** The mode, on the present state of the kernel. */
async function openMode(mode: AskExplain['mode']): Promise<Pick<Mode<never, never>, 'explain'>> {
  if (mode === 'iptables') {
    const kernel = await KERNELS.iptables(undefined);
    return createIptablesMode({ ...kernel, iptables: savedOnce(kernel.iptables) }, IPTABLES_DEFAULTS);
  }
  const kernel = await KERNELS.ipvs(undefined);
  const { ipset } = kernel;
  const reading = {
    list: () => ipset.list(),
    apply: (operations: Parameters<typeof ipset.apply>[0]) => ipset.apply(operations),
    get: once((name: string) => ipset.get(name)),
  };
  return createIpvsMode(
    { ...kernel, iptables: savedOnce(kernel.iptables), ipset: reading },
    { ...IPVS_DEFAULTS, kernelRelease: '6.1.0' },
  );
}

serveParent(async ({ mode, questions }: AskExplain): Promise<Explanation[]> => {
  const opened = await openMode(mode);
  const explanations: Explanation[] = [];
  for (const question of questions) {
    const explanation = await opened.explain?.(question);
    if (explanation) explanations.push(explanation);
  }
  return explanations;
});
