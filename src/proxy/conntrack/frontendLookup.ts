// What the cleaners of flows ask about frontends: whose a flow is.
import type { Family } from '../../kernel/net/address.js';
import type { Protocol } from '../../kernel/net/protocol.js';
import type { Frontend } from '../services/types.js';

/** The frontends of all Services, as they are now. */
export interface FrontendLookup {
  /** Whether an address and port is a cluster, external or load-balancer IP with a port of this protocol of any Service. */
  isFrontend(address: string, port: number, protocol: Protocol): boolean;
  /** Whether any Service has this node port. */
  isNodePort(port: number, family: Family, protocol: Protocol): boolean;
  /**
   * Whether the address is one of this node on which node ports are served. A flow to any other address is not one of a node port: a pod may
   * send to a port of another host that has the number of a node port.
   */
  servesNodePorts(address: string): boolean;
  /** The frontends of a Service; none if there is no such Service. */
  frontendsOf(service: string): Iterable<PortFrontends>;
}

/** The frontends of a Service port in one family. */
export interface PortFrontends {
  readonly family: Family;
  readonly protocol: Protocol;
  readonly frontends: Iterable<Frontend>;
}
