// The input of plans, the same for every mode. It contains facts only; each mode makes its own choices.
import type { Family } from '../../kernel/net/address.js';
import type { AddressPorts } from '../../kernel/net/addressPorts.js';
import type { Protocol } from '../../kernel/net/protocol.js';
import type { EndpointList } from './endpointList.js';
import type { ServiceSettings } from './settings/types.js';

/** The kind of a frontend's address. */
export type FrontendKind = 'clusterIP' | 'externalIP' | 'loadBalancerIP' | 'nodePort';

/** An address and port that a client can connect to. The protocol is that of the Service port. */
export interface Frontend {
  readonly kind: FrontendKind;
  /** Canonical address. Empty for a node port: its addresses are in {@link HostFacts}. */
  readonly address: string;
  readonly port: number;
  /** The traffic policy is `Local`: internalTrafficPolicy for a cluster IP, otherwise externalTrafficPolicy. */
  readonly localPolicy: boolean;
  /** Networks that may connect to a load-balancer IP; empty: all. Only networks of the frontend's family. */
  readonly sourceRanges: readonly string[];
}

/** A Service port in one family, with its frontends and endpoints. */
export interface ServicePort {
  readonly family: Family;
  /** Name of the port; may be empty. */
  readonly portName: string;
  readonly protocol: Protocol;
  /** Timeout of client-IP affinity, in s; 0 for none. That of the settings, if they have one. */
  readonly affinitySeconds: number;
  readonly frontends: readonly Frontend[];
  /** Every endpoint of the port in any state, once, sorted by address and port as numbers. */
  readonly endpoints: EndpointList;
  /** Endpoints for policy `Cluster`; empty if no frontend of the port needs them. */
  readonly clusterEndpoints: AddressPorts;
  /** Endpoints on this node for policy `Local`; empty if no frontend of the port needs them. */
  readonly localEndpoints: AddressPorts;
}

/** The input of one Service's plan. */
export interface ServicePlanInput {
  /** `namespace/name`. */
  readonly service: string;
  /** Creation time, in ms since 1970. Of two equal claims to an address and port, that of the older Service wins. */
  readonly createdAt: number;
  readonly ports: readonly ServicePort[];
  /** Port of the load balancer's health check; 0 for none. */
  readonly healthCheckNodePort: number;
  /**
   * Number of endpoints of all Service ports in each family, in any state, when the input was made. Its changes do not
   * change the Service's plan in the kernel.
   */
  readonly totalEndpoints: Readonly<Record<Family, number>>;
  /**
   * Endpoints of the last plan that left the slices since then, and were terminating or not ready when they did: a plan in between
   * would have seen them so. The planner adds those that were terminating in the last plan. With `failFast: 'not-serving'`, only those
   * that were terminating. Absent: none.
   */
  readonly left?: Readonly<Partial<Record<Family, AddressPorts>>>;
  /** With `failFast`: endpoints of the last plan that left all slices since then, and are not in `left`. Absent: none. */
  readonly failed?: Readonly<Partial<Record<Family, AddressPorts>>>;
  /** The Service has more frontends × endpoints than are programmed. Absent: it has not. */
  readonly beyond?: EndpointExcess;
  /** Settings by annotation that are allowed and valid. Absent: none. */
  readonly settings?: ServiceSettings;
}

/** Frontends × endpoints of a Service beyond the limit. */
export interface EndpointExcess {
  /** What is multiplied with endpoints: ports, where their frontends share endpoints. */
  readonly counted: 'frontends' | 'ports';
  /** The product that the Service would have. */
  readonly pairs: number;
  /** Number of the endpoints of its slices that are not used. */
  readonly unused: number;
}

/** An address of the host, with its link. */
export interface HostAddress {
  readonly link: string;
  /** Canonical address. */
  readonly address: string;
}

/** An address of the host as the kernel reports it: a link may have the same address with several prefixes. */
export interface AssignedAddress extends HostAddress {
  /** Length of the prefix, in bits. */
  readonly prefix: number;
}

/** A link of the host. */
export interface HostLink {
  readonly name: string;
  readonly isLoopback: boolean;
}

/** Changes of the host's links and addresses, from the kernel's notifications. */
export interface HostChange {
  /** In the order of the notifications. */
  readonly addresses: readonly (AssignedAddress & { readonly deleted: boolean })[];
  /** In the order of the notifications. One that is not deleted may be new, or have changed. */
  readonly links: readonly (HostLink & { readonly deleted: boolean })[];
  /** Notifications were lost: anything may have changed. */
  readonly lost: boolean;
}

/** The differences between two {@link NodeFacts}, grouped by dependent Services. */
export interface NodeChange {
  /** Affects Services whose endpoints have zone hints, or weights by the zone of the node. */
  readonly zone: boolean;
  /** Affects Services with source ranges. */
  readonly nodeIPs: boolean;
  /** The addresses of node ports changed: affects Services with node ports. */
  readonly nodePorts: boolean;
  /** Addresses added to or removed from the host or another node: affects Services with these external or LB IPs. */
  readonly addresses: readonly string[];
}

/** The host's addresses as a mode uses them. A change of an unused address does not change these facts. */
export interface HostFacts {
  /** Addresses on which node ports are served, per family; canonical. */
  readonly nodePortAddresses: Readonly<Record<Family, readonly string[]>>;
  /** Families whose node ports are not restricted to networks (`nodePortAddresses`). */
  readonly unrestricted: ReadonlySet<Family>;
  /** Addresses on other links than the mode's own: the mode need not add an external IP among them. */
  readonly addresses: ReadonlySet<string>;
  /** Names of the links that the mode uses, sorted. Absent: it uses none. */
  readonly links?: readonly string[];
  /**
   * Loopback addresses within `nodePortAddresses`, on which health-check ports listen also where node ports are not served. Only the facts
   * at the start of an agent have them.
   */
  readonly loopback?: readonly string[];
}

/** The facts of the node that plans depend on. */
export interface NodeFacts {
  readonly name: string;
  /** Topology zone; empty if unknown. */
  readonly zone: string;
  /** The node IP of each family, for source ranges and node ports; `127.0.0.1` and `::1` if unknown. */
  readonly nodeIPs: Readonly<Record<Family, string>>;
  /** The family of the node's first address. */
  readonly primaryFamily: Family;
  /** The networks of this node's pods, if known: detect local traffic in mode NodeCIDR. */
  readonly podCIDRs: readonly string[];
  /** The networks of all ServiceCIDRs that the source reports, sorted: cluster IPs are in them. Only some modes ask for them. */
  readonly serviceCIDRs: readonly string[];
  /** Addresses of the other nodes that the source reports. */
  readonly otherNodes: ReadonlySet<string>;
  /** Names of other nodes that do not answer this one: their ready endpoints get no new connections, half of each Service's at most. Absent: none. */
  readonly unreachable?: ReadonlySet<string> | undefined;
  readonly host: HostFacts;
}
