// The parts of the kernel that ipvs mode programs: real in production, in memory in tests.
import type { Ipset } from '../../../../kernel/ipset/types.js';
import type { Iptables } from '../../../../kernel/iptables/types.js';
import type { Ipvs } from '../../../../kernel/ipvs/types.js';
import type { ServerLists } from '../../../../kernel/ipvs/values/serverLists.js';
import type { Family } from '../../../../kernel/net/address.js';
import type { Chain, Nftables } from '../../../../kernel/nftables/types.js';
import type { Route, RouteFilter, Rtnetlink } from '../../../../kernel/rtnetlink/types.js';
import type { Sysctl } from '../../../../kernel/sysctl/index.js';
import type { HostChange } from '../../../services/types.js';
import type { Item } from '../plan/items.js';

/** The parts of one network namespace. */
export interface IpvsKernel {
  /** What openIpvs() opens, or a FakeIpvs. */
  readonly ipvs: Pick<Ipvs, 'listServices' | 'get' | 'apply' | 'timeouts' | 'setTimeouts'> & ServerLists;
  /** With rules of iptables, as `iptables`: with those of nf_tables, neither is used, and `nftables` is needed. */
  readonly ipset: Pick<Ipset, 'list' | 'get' | 'apply'>;
  readonly rtnetlink: Pick<Rtnetlink, 'getLink' | 'listLinks' | 'listAddresses' | 'listRules' | 'apply'> & {
    listRoutes(filter: RouteFilter): AsyncIterable<Route>;
  };
  readonly iptables: Iptables;
  readonly sysctl: Sysctl;
  /** With rules of nf_tables. */
  readonly nftables?: Pick<
    Nftables,
    | 'apply'
    | 'generation'
    | 'getChain'
    | 'getElements'
    | 'getTable'
    | 'listChains'
    | 'listElements'
    | 'listRules'
    | 'listSets'
    | 'listTables'
    | 'port'
    | 'watchCommits'
  >;
  /**
   * The entries of sets that were written with the other rules, until they are removed: they record virtual services too. Absent: there are none.
   */
  readonly otherEntries?: () => AsyncIterable<readonly Item[]>;
  /** Takes what is not of this mode in its tables, after each reading of all items. */
  readonly foreignChains?: {
    take(family: Family, chains: readonly Pick<Chain, 'name' | 'base'>[]): void;
  };
  /**
   * Calls `changed` after changes of links or addresses. If absent, only audits detect changes of kube-ipvs0 by others.
   */
  readonly watchHost?: (changed: (change: HostChange) => void) => Promise<{ close(): void }>;
}

/** The part of the kernel that has the tables of nf_tables. */
export type TablesKernel = Required<Pick<IpvsKernel, 'nftables'>>;
