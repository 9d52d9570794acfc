// The checks of what ipvs mode is made of.
import { NETWORK } from '../../../../kernel/net/shapes.js';
import {
  FLAG,
  FUNCTION,
  integer,
  listOf,
  methods,
  number,
  object,
  oneOf,
  optional,
  partOf,
  type Shape,
  setOf,
  TEXT,
} from '../../../../kernel/shapes.js';
import { IPTABLES, OPTIONS as SHARED, SYSCTL } from '../../shared/program/shapes.js';
import { CURES, type IpvsOptions, RULES } from '../plan/options.js';
import type { IpvsKernel } from './kernel.js';

/** Longest timeout of IPVS, in s. */
const SECONDS = integer(0, 2_147_483);

/** The check of the options. */
export const OPTIONS = object<IpvsOptions>({
  ...SHARED,
  rules: oneOf(...RULES),
  scheduler: TEXT,
  strictARP: FLAG,
  timeouts: object({ tcp: SECONDS, tcpFin: SECONDS, udp: SECONDS }),
  excludeCIDRs: listOf(NETWORK),
  ownAll: FLAG,
  cures: setOf(oneOf(...CURES)),
  drainBound: number(0, Number.MAX_SAFE_INTEGER),
  kernelRelease: TEXT,
});

const NFTABLES = methods(
  'apply',
  'generation',
  'getChain',
  'getElements',
  'getTable',
  'listChains',
  'listElements',
  'listRules',
  'listSets',
  'listTables',
  'port',
  'watchCommits',
);

/** The check of the kernel. */
export const KERNEL = partOf({
  ipvs: methods('listServices', 'listServers', 'get', 'apply', 'applyChanges', 'timeouts', 'setTimeouts'),
  ipset: methods('list', 'get', 'apply'),
  rtnetlink: methods('getLink', 'listLinks', 'listAddresses', 'listRules', 'listRoutes', 'apply'),
  iptables: IPTABLES,
  sysctl: SYSCTL,
  nftables: optional(NFTABLES),
  otherEntries: optional(FUNCTION),
  foreignChains: optional(methods('take')),
  watchHost: optional(FUNCTION),
} satisfies Shape<IpvsKernel>);
