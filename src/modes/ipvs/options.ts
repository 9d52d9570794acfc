// What configuration decides about the kernel's state in ipvs mode. Names in comments are KubeProxyConfiguration's.
import type { IpvsTimeouts } from '../../kernel/ipvs/types.js';
import type { Family } from '../../net/address.js';

/** How rules tell traffic that comes from this cluster's pods (`detectLocalMode`). */
export type LocalDetector =
  /** By source network, per family: mode ClusterCIDR. A family without one has no detector. */
  | { readonly by: 'network'; readonly networks: { readonly [family in Family]?: string } }
  /** By the network of this node's pods: mode NodeCIDR. */
  | { readonly by: 'nodeNetwork' }
  /** By the device it comes in on, in iptables' notation (`cni0`, `veth+`): modes BridgeInterface and InterfaceNamePrefix. */
  | { readonly by: 'interface'; readonly match: string };

/**
 * Faults of kube-proxy that stay by default, because curing one changes the kernel's steady state; each can be cured by
 * name. docs/differences.md says what each is about.
 */
export const CURES = [
  'external-local',
  'internal-local',
  'other-nodes',
  'node-ports-off-vips',
  'accept-node-ports',
  'endpoint-order',
  'excluded-addresses',
] as const;

/** The name of a cure. */
export type Cure = (typeof CURES)[number];

/** Options of ipvs mode. */
export interface IpvsOptions {
  /** Families to program; a family the host lacks is left out. */
  readonly families: readonly Family[];
  /** `ipvs.scheduler`, for every virtual service; default `rr`. */
  readonly scheduler: string;
  /** `iptables.masqueradeAll`: masquerade all traffic to cluster IPs. */
  readonly masqueradeAll: boolean;
  /** `1 << iptables.masqueradeBit`; default 0x4000. */
  readonly masqueradeMark: number;
  readonly localDetector: LocalDetector;
  /** `nodePortAddresses`: networks whose host addresses get node ports, or the node's own address; empty: every host address. */
  readonly nodePortAddresses: readonly string[] | 'primary';
  /** `ipvs.strictARP`: answer ARP for an address only on the device that has it. */
  readonly strictARP: boolean;
  /** `ipvs.tcpTimeout`, `tcpFinTimeout`, `udpTimeout`, seconds; 0 leaves the kernel's value as it is. */
  readonly timeouts: IpvsTimeouts;
  /** `ipvs.excludeCIDRs`: networks whose virtual services are never deleted. */
  readonly excludeCIDRs: readonly string[];
  /** Take every virtual service of the families for ours, as kube-proxy does; by default only those that are. */
  readonly ownAll: boolean;
  /** Faults of kube-proxy to cure; none by default. */
  readonly cures: ReadonlySet<Cure>;
  /** Longest time that connections of a real server that is no longer wanted may run on, ms; default 15 minutes. */
  readonly drainBound: number;
  /** `ipvs.syncPeriod`: quiet time after which everything is audited, in ms; default 30 seconds. */
  readonly auditPeriod: number;
  /** Kernel release, `6.1.0-13-amd64`: decides which sysctls are right. */
  readonly kernelRelease: string;
}

/** The defaults that need no look at the host. */
export const IPVS_DEFAULTS = {
  families: [4, 6],
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
