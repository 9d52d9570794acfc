// Explains packets in the network namespace of a node, for its parent.

import type { Explainer, Explanation, PacketQuestion } from '../../../src/command/explain/explanation.js';
import { explain as explainIptables } from '../../../src/command/explain/read/iptables.js';
import { explain as explainIpvs } from '../../../src/command/explain/read/ipvs.js';
import { explain as explainNftables } from '../../../src/command/explain/read/nftables.js';
import { openProcNet } from '../../../src/command/kernel/procNet/index.js';
import { openIpvsKernel } from '../../../src/command/modes/ipvs/parts.js';
import { openHostKernel } from '../../../src/command/modes/shared/hostKernel.js';
import type { Iptables } from '../../../src/kernel/iptables/types.js';
import { openNftables } from '../../../src/kernel/nftables/index.js';
import { IPTABLES_DEFAULTS } from '../../../src/proxy/modes/iptables/index.js';
import { IPVS_DEFAULTS, type IpvsOptions } from '../../../src/proxy/modes/ipvs/index.js';
import { NFTABLES_DEFAULTS } from '../../../src/proxy/modes/nftables/index.js';
import { serveParent } from '../../laboratory/namespaceProcess.js';

/** Questions about one state of the kernel. */
export interface AskExplain {
  readonly mode: 'ipvs' | 'ipvs tables' | 'iptables' | 'nftables';
  readonly questions: readonly PacketQuestion[];
}

const KERNELS = {
  ipvs: once((rules: IpvsOptions['rules']) => openIpvsKernel(false, rules)),
  iptables: once(() => openHostKernel()),
  nftables: once(() => openNftables()),
};

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

/** Explains in a mode, on the present state of the kernel. */
async function explainerOf(mode: AskExplain['mode']): Promise<Explainer['explain']> {
  if (mode === 'iptables') {
    const kernel = await KERNELS.iptables(undefined);
    const reading = { ...kernel, iptables: savedOnce(kernel.iptables), procNet: openProcNet() };
    return (question) => explainIptables(reading, IPTABLES_DEFAULTS, question);
  }
  if (mode === 'nftables') {
    const [host, nftables] = [await KERNELS.iptables(undefined), await KERNELS.nftables(undefined)];
    const parts = { ...host, iptables: savedOnce(host.iptables), procNet: openProcNet(), nftables };
    return (question) => explainNftables(parts, NFTABLES_DEFAULTS, question);
  }
  if (mode === 'ipvs tables') {
    const { nftables: tables, ...kernel } = await KERNELS.ipvs('nftables');
    if (!tables) throw new Error('nftables is not open');
    const parts = { ...kernel, iptables: savedOnce(kernel.iptables), procNet: openProcNet(), tables };
    return (question) =>
      explainIpvs(parts, { ...IPVS_DEFAULTS, kernelRelease: '6.1.0', rules: 'nftables' }, question);
  }
  const { nftables: _, ...kernel } = await KERNELS.ipvs('iptables');
  const { ipset } = kernel;
  const reading = {
    list: () => ipset.list(),
    apply: (operations: Parameters<typeof ipset.apply>[0]) => ipset.apply(operations),
    get: once((name: string) => ipset.get(name)),
  };
  const parts = { ...kernel, iptables: savedOnce(kernel.iptables), ipset: reading, procNet: openProcNet() };
  return (question) => explainIpvs(parts, { ...IPVS_DEFAULTS, kernelRelease: '6.1.0' }, question);
}

serveParent(async ({ mode, questions }: AskExplain): Promise<Explanation[]> => {
  const explain = await explainerOf(mode);
  const explanations: Explanation[] = [];
  for (const question of questions) explanations.push(await explain(question));
  return explanations;
});
