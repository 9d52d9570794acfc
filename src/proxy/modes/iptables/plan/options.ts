// The options of iptables mode. Names in comments are fields of KubeProxyConfiguration.
import type { Family } from '../../../../kernel/net/address.js';
import type { LocalDetector } from '../../shared/plan/localDetector.js';

/** Options of iptables mode. */
export interface IptablesOptions {
  /** Families to program; only those that the host has. */
  readonly families: readonly Family[];
  /** `iptables.masqueradeAll`: masquerade all traffic to cluster IPs. */
  readonly masqueradeAll: boolean;
  /** `1 << iptables.masqueradeBit`; default 0x4000. */
  readonly masqueradeMark: number;
  readonly localDetector: LocalDetector;
  /**
   * `nodePortAddresses`: networks whose host addresses serve node ports, canonical, and `primary` for the node IPs; `primary`: only the
   * node IPs; empty: all addresses.
   */
  readonly nodePortAddresses: readonly string[] | 'primary';
  /**
   * `iptables.localhostNodePorts`: serve node ports on IPv4 loopback addresses; default true. It has no effect if
   * `nodePortAddresses` excludes loopback.
   */
  readonly localhostNodePorts: boolean;
  /**
   * The kernel counts packets with nfacct (module xt_nfacct), and the counters `ct_state_invalid_dropped_pkts` and
   * `localhost_nps_accepted_pkts` exist; default false.
   */
  readonly nfacct: boolean;
  /**
   * The setting `net.netfilter.nf_conntrack_tcp_be_liberal` was not 0 at the start: packets in state INVALID are not
   * dropped; default false.
   */
  readonly conntrackLiberal: boolean;
  /** `iptables.syncPeriod`: time without changes after which an audit starts, in ms; default 30 s. */
  readonly auditPeriod: number;
}

/** The defaults that do not depend on the host. */
export const IPTABLES_DEFAULTS = {
  families: [4, 6],
  masqueradeAll: false,
  masqueradeMark: 1 << 14,
  localDetector: { by: 'network', networks: {} },
  nodePortAddresses: [],
  localhostNodePorts: true,
  nfacct: false,
  conntrackLiberal: false,
  auditPeriod: 30_000,
} as const satisfies IptablesOptions;
