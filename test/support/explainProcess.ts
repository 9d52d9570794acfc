// Explains packets in the network namespace of a node, for its parent.
import { serveParent } from '../../demo/namespaceProcess.js';
import type { Explanation, PacketQuestion } from '../../src/modes/explanation.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../src/modes/ipvs/index.js';
import { openIpvsKernel } from '../../src/modes/ipvs/open.js';

/** Questions about one state of the kernel. */
export interface AskExplain {
  readonly questions: readonly PacketQuestion[];
}

const kernel = await openIpvsKernel(false);

/** Rules and sets are read once for all questions: each rule listing is a process, which is slow on an emulated machine. */
function once<Key, Value>(read: (key: Key) => Promise<Value>): (key: Key) => Promise<Value> {
  const values = new Map<Key, Promise<Value>>();
  return (key) => {
    const value = values.get(key) ?? read(key);
    values.set(key, value);
    return value;
  };
}

serveParent(async ({ questions }: AskExplain): Promise<Explanation[]> => {
  const { iptables, ipset } = kernel;
  const mode = createIpvsMode(
    {
      ...kernel,
      iptables: { ...iptables, saveTables: once((family) => iptables.saveTables(family)) },
      ipset: {
        list: () => ipset.list(),
        apply: (operations) => ipset.apply(operations),
        get: once((name) => ipset.get(name)),
      },
    },
    { ...IPVS_DEFAULTS, kernelRelease: '6.1.0' },
  );
  const explanations: Explanation[] = [];
  for (const question of questions) {
    const explanation = await mode.explain?.(question);
    if (explanation) explanations.push(explanation);
  }
  return explanations;
});
