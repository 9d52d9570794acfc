// The options of nftables mode. Names in comments are fields of KubeProxyConfiguration.
import type { Family } from '../../../../kernel/net/address.js';
import type { Protocol } from '../../../../kernel/net/protocol.js';
import type { LocalDetector } from '../../shared/plan/localDetector.js';

/** What the rules of Services look like: see {@link NftablesOptions.layout}. */
export type NftablesLayout = 'kube-proxy' | 'scalable';

/** The layouts of nftables mode. */
export const LAYOUTS: readonly NftablesLayout[] = ['kube-proxy', 'scalable'];

/** Options of nftables mode. */
export interface NftablesOptions {
  /** Families to program; only those that the host has. */
  readonly families: readonly Family[];
  /** `nftables.masqueradeAll`: masquerade all traffic to cluster IPs. */
  readonly masqueradeAll: boolean;
  /** `1 << nftables.masqueradeBit`; default 0x4000. */
  readonly masqueradeMark: number;
  readonly localDetector: LocalDetector;
  /**
   * `nodePortAddresses`: networks whose host addresses serve node ports, canonical, and `primary` for the node IPs; `primary`, the
   * default in this mode: only the node IPs; empty: all addresses.
   */
  readonly nodePortAddresses: readonly string[] | 'primary';
  /**
   * `kube-proxy`, the default: a chain for each Service port, with a map of its endpoints, as in kube-proxy. `scalable`: Services with equal
   * numbers of endpoints share a chain, and all share one map of endpoints; those with session affinity, and external traffic with
   * policy Local, have chains of their own.
   */
  readonly layout: NftablesLayout;
  /**
   * A chain with one endpoint translates to it without a map, as in kube-proxy from 1.37 on. Default false, as in 1.36; in layout
   * `scalable` always.
   */
  readonly directSingleEndpoint: boolean;
  /**
   * The protocols of node ports that are rejected on loopback addresses, in each family; none, the default: whatever listens there gets the
   * traffic. kube-proxy rejects them with gate `KubeProxyNFTablesLocalhostNodePorts`: `udp` and `sctp` where it serves TCP itself, else all.
   */
  readonly localhostRejects: Readonly<Record<Family, readonly Protocol[]>>;
  /**
   * Established flows of Services between these links bypass the rules: names of links, and beginnings of names with an asterisk at the
   * end. The loopback link is left out. Undefined, the default: no flows do. Linux 5.8 with nf_flow_table.
   */
  readonly flowTable?: readonly string[] | undefined;
  /** Time without changes after which an audit starts, in ms; default 5 minutes. The kernel's notifications come first. */
  readonly auditPeriod: number;
}

/** The defaults that do not depend on the host. */
export const NFTABLES_DEFAULTS = {
  families: [4, 6],
  masqueradeAll: false,
  masqueradeMark: 1 << 14,
  localDetector: { by: 'network', networks: {} },
  nodePortAddresses: 'primary',
  layout: 'kube-proxy',
  directSingleEndpoint: false,
  localhostRejects: { 4: [], 6: [] },
  auditPeriod: 300_000,
} as const satisfies NftablesOptions;
