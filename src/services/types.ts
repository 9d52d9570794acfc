// The input of planning, the same for every mode. It states facts and makes no choice that belongs to a mode.
import type { Family } from '../net/address.js';
import type { Protocol } from '../net/protocol.js';

/** A pod, or whatever else answers for a Service port. */
export interface Endpoint {
  /** Canonical address. */
  readonly address: string;
  readonly port: number;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  /** Runs on this node. */
  readonly local: boolean;
  readonly zoneHints: readonly string[];
  readonly nodeHints: readonly string[];
}

/** The kind of a frontend's address. */
export type FrontendKind = 'clusterIP' | 'externalIP' | 'loadBalancerIP' | 'nodePort';

/** One address, port and protocol that a client can dial. */
export interface Frontend {
  readonly kind: FrontendKind;
  /** Canonical address; empty for a node port: its addresses are those of {@link HostFacts}. */
  readonly address: string;
  readonly port: number;
  /** The traffic policy that applies here is `Local`: internalTrafficPolicy for a cluster IP, externalTrafficPolicy else. */
  readonly localPolicy: boolean;
  /** Networks that may reach a load-balancer IP; empty means every one. Networks of the frontend's family only. */
  readonly sourceRanges: readonly string[];
}

/** A Service port in one family, with its frontends and endpoints. */
export interface ServicePort {
  readonly family: Family;
  /** Name of the port; may be empty. */
  readonly portName: string;
  readonly protocol: Protocol;
  /** Seconds of client-IP affinity; 0 for none. */
  readonly affinitySeconds: number;
  readonly frontends: readonly Frontend[];
  /** Every endpoint of the port in whatever state, sorted by `address:port`, each once. */
  readonly endpoints: readonly Endpoint[];
  /** Those to use where the policy is `Cluster`; empty when nothing of the port needs them. */
  readonly clusterEndpoints: readonly Endpoint[];
  /** Those of this node to use where the policy is `Local`; empty when nothing of the port needs them. */
  readonly localEndpoints: readonly Endpoint[];
}

/** The input of one Service's plan. */
export interface ServicePlanInput {
  /** `namespace/name`. */
  readonly service: string;
  /** Creation time, in ms since 1970: of two Services that name one address and port, the older one answers. */
  readonly createdAt: number;
  readonly ports: readonly ServicePort[];
  /** Port of the load balancer's health check; 0 for none. */
  readonly healthCheckNodePort: number;
}

/** An address of the host, and the device it is on. */
export interface HostAddress {
  readonly link: string;
  /** Canonical address. */
  readonly address: string;
}

/** An address of the host as the kernel has it: a device may have one address several times, with different prefixes. */
export interface AssignedAddress extends HostAddress {
  /** Length of the prefix, in bits. */
  readonly prefix: number;
}

/** Changes of the host's links and addresses, as the kernel notified of them. */
export interface HostChange {
  /** In the order in which they were made. */
  readonly addresses: readonly (AssignedAddress & { readonly deleted: boolean })[];
  /** Names of links that were deleted. */
  readonly deletedLinks: readonly string[];
  /** Notifications were lost: anything may have changed. */
  readonly lost: boolean;
}

/** What differs between two {@link NodeFacts}, by the Services that depend on it. */
export interface NodeChange {
  /** Services whose endpoints have hints for zones depend on it. */
  readonly zone: boolean;
  /** The node's own addresses; Services with source ranges depend on them. */
  readonly nodeIPs: boolean;
  /** The addresses of node ports; Services with node ports depend on them. */
  readonly nodePorts: boolean;
  /** Addresses that the host, or another node, gained or lost; Services with these external or load-balancer IPs depend on them. */
  readonly addresses: readonly string[];
}

/** The addresses of the host as a mode uses them: derived from all of them, so that an unrelated address changes nothing. */
export interface HostFacts {
  /** Addresses on which node ports are served, per family; canonical. */
  readonly nodePortAddresses: Readonly<Record<Family, readonly string[]>>;
  /** Families whose node ports are restricted to no network (`nodePortAddresses`). */
  readonly unrestricted: ReadonlySet<Family>;
  /** Addresses that the host has already: an external IP among them reaches the host without the mode. */
  readonly addresses: ReadonlySet<string>;
}

/** What planning needs to know of the node. */
export interface NodeFacts {
  readonly name: string;
  /** Topology zone; empty when unknown. */
  readonly zone: string;
  /** The node's own address per family, for the source-range check and node ports; `127.0.0.1` and `::1` when unknown. */
  readonly nodeIPs: Readonly<Record<Family, string>>;
  /** The family of the node's first address. */
  readonly primaryFamily: Family;
  /** The network of this node's pods per family, when known: detects local traffic in mode NodeCIDR. */
  readonly podCIDRs: readonly string[];
  /** Addresses of the other nodes, as far as the source reports them. */
  readonly otherNodes: ReadonlySet<string>;
  readonly host: HostFacts;
}
