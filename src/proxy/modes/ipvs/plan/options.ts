// The options of ipvs mode. Names in comments are fields of KubeProxyConfiguration.
import type { IpvsTimeouts } from '../../../../kernel/ipvs/types.js';
import type { Family } from '../../../../kernel/net/address.js';
import type { LocalDetector } from '../../shared/plan/localDetector.js';

/**
 * Bugs of kube-proxy that are reproduced by default, because a correction changes the kernel's steady state. Each has a
 * name; docs/differences.md describes them.
 */
export const CURES = [
  'external-local',
  'internal-local',
  'other-nodes',
  'node-ports-off-vips',
  'accept-node-ports',
  'endpoint-order',
  'excluded-addresses',
  'node-failover',
] as const;

/** The name of a correction, for `--cures`. */
export type Cure = (typeof CURES)[number];

/** What writes the rules: the programs of iptables with ipsets, or transactions of nf_tables. */
export const RULES: readonly IpvsOptions['rules'][] = ['iptables', 'nftables'];

/** Options of ipvs mode. */
export interface IpvsOptions {
  /** Families to program; only those that the host has. */
  readonly families: readonly Family[];
  /** What the rules are written with; default `iptables`. `nftables`: nothing of iptables and ipset is used. */
  readonly rules: 'iptables' | 'nftables';
  /** `ipvs.scheduler`, for every virtual service; default `rr`. */
  readonly scheduler: string;
  /** `iptables.masqueradeAll`: masquerade all traffic to cluster IPs. */
  readonly masqueradeAll: boolean;
  /** `1 << iptables.masqueradeBit`; default 0x4000. */
  readonly masqueradeMark: number;
  readonly localDetector: LocalDetector;
  /**
   * `nodePortAddresses`: networks whose host addresses serve node ports, and `primary` for the node IPs; `primary`: only the node IPs;
   * empty: all addresses.
   */
  readonly nodePortAddresses: readonly string[] | 'primary';
  /** `ipvs.strictARP`: answer ARP for an address only on the interface that has it. */
  readonly strictARP: boolean;
  /** `ipvs.tcpTimeout`, `tcpFinTimeout`, `udpTimeout`, in s; 0 does not change the kernel's value. */
  readonly timeouts: IpvsTimeouts;
  /** `ipvs.excludeCIDRs`: networks whose virtual services are never deleted. */
  readonly excludeCIDRs: readonly string[];
  /** Every virtual service of the families is ours, as in kube-proxy; by default only those that are recorded. */
  readonly ownAll: boolean;
  /** Bugs of kube-proxy to correct; none by default. */
  readonly cures: ReadonlySet<Cure>;
  /** Maximum time of draining, in ms; default 15 minutes. */
  readonly drainBound: number;
  /** `ipvs.syncPeriod`: time without changes after which an audit starts, in ms; default 30 s. */
  readonly auditPeriod: number;
  /** Kernel release, `6.1.0-13-amd64`: determines the values of settings. */
  readonly kernelRelease: string;
}

/** The defaults that do not depend on the host. */
export const IPVS_DEFAULTS = {
  families: [4, 6],
  rules: 'iptables',
  scheduler: 'rr',
  masqueradeAll: false,
  masqueradeMark: 1 << 14,
  localDetector: { by: 'network', networks: {} },
  nodePortAddresses: [],
  strictARP: false,
  timeouts: { tcp: 0, tcpFin: 0, udp: 0 },
  excludeCIDRs: [],
  ownAll: false,
  cures: new Set<Cure>(),
  drainBound: 15 * 60_000,
  auditPeriod: 30_000,
} as const satisfies Partial<IpvsOptions>;
