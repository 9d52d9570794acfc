// The parts of a kernel that has not loaded IPVS or ipset, as they are read for the removal of former state: empty.
import { NetlinkError } from '../../../kernel/errors.js';
import { operationsOf, realServersOf } from '../../../kernel/ipvs/values/serverLists.js';
import { familyOf } from '../../../kernel/net/address.js';
import type { BatchSource } from '../../../kernel/shared/types.js';
import type { IpvsKernel } from '../../../proxy/modes/ipvs/program/kernel.js';

const absent = (operation: string) =>
  new NetlinkError({ code: 'ENOENT', operation, hint: 'the kernel module is not loaded' });

/** IPVS of a kernel that has not loaded it: there are no virtual services. Changes fail with `ENOENT`. */
export const NO_IPVS: IpvsKernel['ipvs'] & { close(): void } = {
  listServices: async () => [],
  listServers: async (ids) => ids.map(({ address }) => realServersOf(familyOf(address), [])),
  applyChanges: async (parts) => parts.flatMap(operationsOf).map(() => absent('ipvs.apply')),
  get: async () => undefined,
  apply: async (operations) => operations.map(() => absent('ipvs.apply')),
  timeouts: async () => ({ tcp: 0, tcpFin: 0, udp: 0 }),
  setTimeouts: async () => {
    throw absent('ipvs.setTimeouts');
  },
  close() {},
};

/** Links of a namespace without those of the mode. */
export const NO_LINKS: IpvsKernel['rtnetlink'] = {
  getLink: async () => undefined,
  listLinks: async () => [],
  listAddresses: async () => [],
  listRules: async () => [],
  async *listRoutes() {},
  apply: async () => [],
};

/** Settings that are neither read nor written. */
export const NO_SETTINGS: IpvsKernel['sysctl'] = { read: async () => undefined, write: async () => {} };

/** ipset of a kernel that has not loaded it: there are no sets. Changes fail with `ENOENT`. */
export const NO_IPSET: IpvsKernel['ipset'] & BatchSource<never> & { close(): void } = {
  list: async () => [],
  get: async () => undefined,
  apply: async (operations) => operations.map(() => absent('ipset.apply')),
  close() {},
};
