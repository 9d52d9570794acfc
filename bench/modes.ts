// The modes of the proxy that are measured, and a kernel in memory.

import { existsSync } from 'node:fs';
import { release } from 'node:os';
import {
  createIptablesMode,
  createIpvsMode,
  type createProxy,
  IPTABLES_DEFAULTS,
  IPVS_DEFAULTS,
  type IptablesKernel,
  type IpvsKernel,
} from '../src/index.js';
import { restoreInput } from '../src/kernel/iptables/index.js';
import { operationsOf, realServersOf } from '../src/kernel/ipvs/values/serverLists.js';
import type { OpenedMode } from '../src/modes/shared/open/definition.js';
import { type Family, familyOf } from '../src/net/address.js';
import { NO_IPVS } from './phases.js';

/** The kernel of a proxy. iptables mode needs neither IPVS nor ipset. */
export interface ProxyKernel extends IptablesKernel, Pick<IpvsKernel, 'watchHost'> {
  readonly rtnetlink: IpvsKernel['rtnetlink'];
  readonly ipvs?: IpvsKernel['ipvs'] | undefined;
  readonly ipset?: IpvsKernel['ipset'];
  readonly conntrack?: NonNullable<Parameters<typeof createProxy>[0]['conntrack']>;
}

/** Makes a mode on a kernel. @param auditPeriod in ms */
export type ModeMaker = (kernel: ProxyKernel, auditPeriod: number) => OpenedMode['mode'];

/** ipvs mode. Throws on a kernel without IPVS. */
export const ipvsMode: ModeMaker = ({ ipvs, ipset, ...kernel }, auditPeriod) => {
  if (!ipvs || !ipset) throw new Error(NO_IPVS);
  return createIpvsMode(
    { ...kernel, ipvs, ipset },
    { ...IPVS_DEFAULTS, families: families(), kernelRelease: release(), auditPeriod },
  );
};

/** iptables mode. */
export const iptablesMode: ModeMaker = (kernel, auditPeriod) =>
  createIptablesMode(kernel, { ...IPTABLES_DEFAULTS, families: families(), auditPeriod });

function families(): readonly Family[] {
  return existsSync('/proc/self/net/if_inet6') ? [4, 6] : [4];
}

/**
 * A kernel that accepts every operation and has nothing: what remains is the proxy's own part, with the input for
 * iptables-restore.
 */
export function emptyKernel(): IpvsKernel {
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
    sysctl: { read: async () => undefined, write: async () => {} },
  };
}
