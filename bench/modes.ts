// The modes of the proxy that are measured, and a kernel in memory.

import { existsSync } from 'node:fs';
import { release } from 'node:os';
import type { OpenedMode } from '../src/command/modes/shared/definition.js';
import { restoreInput } from '../src/kernel/iptables/index.js';
import { operationsOf, realServersOf } from '../src/kernel/ipvs/values/serverLists.js';
import { type Family, familyOf } from '../src/kernel/net/address.js';
import { writeInSteps } from '../src/kernel/nftables/transaction/write.js';
import { FakeNftables } from '../src/kernel/testing/nftables.js';
import { TimeSlice } from '../src/kernel/timeSlice.js';
import {
  createIptablesMode,
  createIpvsMode,
  createNftablesMode,
  type createProxy,
  IPTABLES_DEFAULTS,
  IPVS_DEFAULTS,
  type IptablesKernel,
  type IpvsKernel,
  NFTABLES_DEFAULTS,
  type NftablesKernel,
  type NftablesLayout,
} from '../src/proxy/index.js';
import { NO_IPVS } from './phases.js';
import type { LifeName } from './types.js';

/** The kernel of a proxy. iptables mode needs neither IPVS nor ipset, and nftables mode needs only nftables. */
export interface ProxyKernel extends IptablesKernel, Pick<IpvsKernel, 'watchHost'> {
  readonly rtnetlink: IpvsKernel['rtnetlink'];
  readonly ipvs?: IpvsKernel['ipvs'] | undefined;
  readonly ipset?: IpvsKernel['ipset'];
  readonly nftables?: NftablesKernel['nftables'] | undefined;
  readonly conntrack?: NonNullable<Parameters<typeof createProxy>[0]['conntrack']>;
}

/** Makes a mode on a kernel. @param auditPeriod in ms */
export type ModeMaker = (kernel: ProxyKernel, auditPeriod: number) => OpenedMode['mode'];

/** ipvs mode. Throws on a kernel without IPVS. */
export const ipvsMode: ModeMaker = ({ ipvs, ipset, nftables: _, ...kernel }, auditPeriod) => {
  if (!ipvs || !ipset) throw new Error(NO_IPVS);
  return createIpvsMode(
    { ...kernel, ipvs, ipset },
    { ...IPVS_DEFAULTS, families: families(), kernelRelease: release(), auditPeriod },
  );
};

/** iptables mode. */
export const iptablesMode: ModeMaker = (kernel, auditPeriod) =>
  createIptablesMode(kernel, { ...IPTABLES_DEFAULTS, families: families(), auditPeriod });

/** nftables mode with a layout. Throws without this part of the kernel. */
function nftablesMode(layout: NftablesLayout): ModeMaker {
  return ({ nftables }, auditPeriod) => {
    if (!nftables) throw new Error('the kernel has no nftables');
    const options = { ...NFTABLES_DEFAULTS, layout, families: families(), auditPeriod };
    return createNftablesMode({ nftables }, options);
  };
}

/** The makers of the modes, by the life that is measured. */
export const MODES: Readonly<Record<LifeName, ModeMaker>> = {
  ipvs: ipvsMode,
  iptables: iptablesMode,
  nftables: nftablesMode('kube-proxy'),
  scalable: nftablesMode('scalable'),
};

function families(): readonly Family[] {
  return existsSync('/proc/self/net/if_inet6') ? [4, 6] : [4];
}

/**
 * A kernel that accepts every operation and has nothing: what remains is the proxy's own part, with the input for
 * iptables-restore.
 */
export function emptyKernel(): IpvsKernel & Pick<NftablesKernel, 'nftables'> {
  const accept = async (operations: readonly unknown[]) =>
    new Array<undefined>(operations.length).fill(undefined);
  return {
    ipvs: {
      listServices: async () => [],
      listServers: async (services) => services.map(({ address }) => realServersOf(familyOf(address), [])),
      applyChanges: (parts) => accept(parts.flatMap(operationsOf)),
      get: async () => undefined,
      apply: accept,
      timeouts: async () => ({ tcp: 0, tcpFin: 0, udp: 0 }),
      setTimeouts: async () => {},
    },
    ipset: { list: async () => [], get: async () => undefined, apply: accept },
    rtnetlink: {
      getLink: async () => undefined,
      listLinks: async () => [],
      listAddresses: async () => [],
      listRules: async () => [],
      async *listRoutes() {},
      apply: accept,
    },
    iptables: {
      async *chains() {},
      save: async () => new Map(),
      saveTables: async () => ({ rules: new Map(), policies: new Map() }),
      listRules: async () => [],
      restore: async (_family, operations) => {
        restoreInput(operations);
        return operations.map(() => undefined);
      },
    },
    nftables: emptyNftables(),
    sysctl: { read: async () => undefined, write: async () => {} },
  };
}

/** It has no ruleset, notifies of nothing, and writes each transaction without sending it. */
function emptyNftables(): NftablesKernel['nftables'] {
  const nothing = new FakeNftables();
  return {
    apply: async (operations) => {
      const written = await new TimeSlice().finish(writeInSteps(operations, undefined));
      written.release();
      return new Array<undefined>(operations.length).fill(undefined);
    },
    generation: async () => ({ id: 1, pid: 0, program: '' }),
    getChain: (chain) => nothing.getChain(chain),
    getElements: async () => [],
    getSet: (set) => nothing.getSet(set),
    getTable: (table) => nothing.getTable(table),
    listChains: (where) => nothing.listChains(where),
    listFlowTables: (filter) => nothing.listFlowTables(filter),
    listElementBytes: (set) => nothing.listElementBytes(set),
    listElements: (set) => nothing.listElements(set),
    listObjects: (where) => nothing.listObjects(where),
    listRules: (where) => nothing.listRules(where),
    listSets: (where) => nothing.listSets(where),
    listTables: (where) => nothing.listTables(where),
    port: (options) => nothing.port(options),
    watchCommits: (options) => nothing.watchCommits(options),
  };
}
