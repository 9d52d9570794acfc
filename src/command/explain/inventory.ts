// The frontends of Services as the rules of a mode serve them, with counters: for the commands that list Services.
import type { Family } from '../../kernel/net/address.js';
import type { Protocol } from '../../kernel/net/protocol.js';
import type { FrontendKind } from '../../proxy/services/types.js';

/** Counters of a rule that selects a frontend or an endpoint: such a rule sees the first packet of each connection only. */
export interface RuleTraffic {
  /** New connections since the rule was written. */
  readonly connections: number;
  /** Bytes of their first packets. */
  readonly bytes: number;
}

/** Connections that conntrack has now. */
export interface Connections {
  /** Established ones of TCP, and all flows of other protocols. */
  readonly active: number;
  /** TCP connections that begin or end. */
  readonly inactive: number;
}

/** Which frontends are listed; default: all, with their endpoints. */
export interface FrontendQuery {
  /** Those with these keys; a node port has no address. If the rules have none of them, all. */
  readonly keys?: readonly FrontendId[];
  /** Without their endpoints. */
  readonly bare?: true;
}

/** What identifies a frontend in rules. */
export interface FrontendId {
  readonly family: Family;
  readonly address?: string;
  readonly protocol: Protocol;
  readonly port: number;
}

/** An endpoint that the rules select. */
export interface ProgrammedEndpoint {
  /** Canonical address. */
  readonly address: string;
  readonly port: number;
  /** The probability that a new connection reaches it, from 0 to 1. */
  readonly share: number;
  /** The chain that replaces the destination: `KUBE-SEP-…`; in nftables mode `service-…`, `local-…` or `endpoint-…`. */
  readonly chain: string;
  /** Those of all frontends that use the same chain of endpoints. Absent if the rules do not count: in nftables mode. */
  readonly counters?: RuleTraffic;
  /** Those of its frontend. In nftables mode, where conntrack can be read. */
  readonly connections?: Connections;
}

/** An address and port of a Service. */
export interface ProgrammedFrontend {
  readonly family: Family;
  /** Canonical address; absent for a node port, which is served on the addresses of the node. */
  readonly address?: string;
  readonly port: number;
  /** `tcp`, `udp` or `sctp`. */
  readonly protocol: string;
  /** Absent if the rules do not show it: they have no comments if the cluster has many endpoints. */
  readonly kind?: FrontendKind;
  /** `namespace/name` of the Service; absent if the rules do not show it. */
  readonly service?: string;
  /** Name of the Service port; absent if it has none, or if the rules do not show it. */
  readonly portName?: string;
  /**
   * The chain to which packets go: `KUBE-SVC-…`, `KUBE-EXT-…` or `KUBE-FW-…`; in nftables mode `service-…`, `local-…` or `external-…`.
   * Absent if there is no endpoint.
   */
  readonly chain?: string;
  /** What happens to packets, if a rule refuses them because the Service has no endpoint for them. */
  readonly refused?: 'REJECT' | 'DROP';
  /** Timeout of session affinity, in s; 0 for none. */
  readonly persistence: number;
  /** Absent if the rules do not count: in nftables mode. */
  readonly counters?: RuleTraffic;
  /** In nftables mode, where conntrack can be read. */
  readonly connections?: Connections;
  /** In the order of the rules. */
  readonly endpoints: readonly ProgrammedEndpoint[];
}
