// Proxies of hostile objects on fake kernels, in each mode, with what they write for iptables-restore.

import type { PacketQuestion } from '../../../src/command/explain/explanation.js';
import { explain as explainIptables } from '../../../src/command/explain/read/iptables.js';
import { explain as explainIpvs } from '../../../src/command/explain/read/ipvs.js';
import { restoreInput } from '../../../src/kernel/iptables/text.js';
import { FakeKernel } from '../../../src/kernel/testing/index.js';
import {
  createIptablesMode,
  IPTABLES_DEFAULTS,
  type IptablesOptions,
} from '../../../src/proxy/modes/iptables/index.js';
import { createIpvsMode, IPVS_DEFAULTS, type IpvsOptions } from '../../../src/proxy/modes/ipvs/index.js';
import type { KubernetesObject } from '../../../src/proxy/objects/types.js';
import { createProxy, type ProxyEvents, type ServiceProxy } from '../../../src/proxy/proxy.js';
import { FakeProcNet } from '../fakes/procNet.js';
import { OTHER } from './objects.js';

const IPTABLES: IptablesOptions = { ...IPTABLES_DEFAULTS, families: [4, 6] };
const IPVS: IpvsOptions = { ...IPVS_DEFAULTS, families: [4, 6], kernelRelease: '6.1.0' };
const IPVS_TABLES: IpvsOptions = { ...IPVS, rules: 'nftables' };

/** The modes, as a node has them. */
export const MODES = {
  iptables: (kernel: FakeKernel) => createIptablesMode(kernel, IPTABLES),
  ipvs: (kernel: FakeKernel) => createIpvsMode(kernel, IPVS),
  'ipvs tables': (kernel: FakeKernel) => createIpvsMode(kernel, IPVS_TABLES),
} as const;

/** Explains a packet, in each mode. */
export const EXPLAIN = {
  iptables: (kernel: FakeKernel, question: PacketQuestion) =>
    explainIptables({ ...kernel, procNet: new FakeProcNet() }, IPTABLES, question),
  ipvs: (kernel: FakeKernel, question: PacketQuestion) =>
    explainIpvs({ ...kernel, procNet: new FakeProcNet() }, IPVS, question),
  'ipvs tables': (kernel: FakeKernel, question: PacketQuestion) =>
    explainIpvs({ ...kernel, tables: kernel.nftables, procNet: new FakeProcNet() }, IPVS_TABLES, question),
} as const;

/** Name of a mode. */
export type ModeName = keyof typeof MODES;

const NO_EVENTS: ProxyEvents = { synced() {}, problems() {}, failed() {}, retrying() {} };

/** A kernel that keeps what is written for iptables-restore. */
export function recordingKernel() {
  const kernel = new FakeKernel();
  let input = '';
  const restore = kernel.iptables.restore.bind(kernel.iptables);
  kernel.iptables.restore = async (family, operations) => {
    const results = await restore(family, operations);
    // What is refused before it is written is not sent.
    if (!results.some((result) => result?.code === 'ERR_INVALID_ARGUMENT'))
      input += restoreInput(operations).toString();
    return results;
  };
  return { kernel, input: () => input };
}

/** A proxy of objects. */
export function proxyOf(
  kernel: FakeKernel,
  mode: ModeName,
  objects: readonly KubernetesObject[],
  events: ProxyEvents = NO_EVENTS,
): ServiceProxy {
  const parts = {
    source: {
      start: async (to: Parameters<Parameters<typeof createProxy>[0]['source']['start']>[0]) => {
        to.changed(objects.map((object) => ({ type: 'set', object })));
        to.synced();
      },
      stop() {},
    },
    ...{ rtnetlink: kernel.rtnetlink, conntrack: kernel.conntrack, nodeName: OTHER.nodeName, events },
    watchHost: async () => ({ close() {} }),
  };
  return mode === 'iptables'
    ? createProxy({ ...parts, mode: MODES.iptables(kernel) })
    : createProxy({ ...parts, mode: MODES[mode](kernel) });
}
