// The explanation of a packet's path through this node: the answer of the command `explain`. Plain values, which are also
// the JSON output of the command.
import type { Protocol } from '../../kernel/net/protocol.js';

/** The place of a client: this node itself, a pod on this node, a pod elsewhere in the cluster, or any other host. */
export type ClientPlace = 'node' | 'pod' | 'other pod' | 'outside';

/** The destination of a packet. */
export interface Dialled {
  /** Canonical. */
  readonly address: string;
  readonly port: number;
  readonly protocol: Protocol;
}

/** The frontend that a client connects to, and the client. */
export interface PacketQuestion extends Dialled {
  /**
   * The client: a canonical address of the same family, or a place, for which the mode selects an address. Default:
   * `outside` for an external or load-balancer IP and for an address of the node, `node` for a loopback address, `pod` for a
   * cluster IP. For an address that no Service has, `pod`, or `node` if no network of pods on the node is known.
   */
  readonly from?: string;
  /** Whether the destination is a cluster IP, even if the kernel lacks it. Default: found in the kernel. */
  readonly clusterIP?: boolean;
}

/** The result for the client. */
export type Verdict =
  /** A process of this node listens and gets the packet, and its replies reach the client. */
  | 'connects'
  /**
   * This node sends the packet to every endpoint that can be selected, and the replies that pass it to the client. No
   * endpoint was asked: its pod may not exist, or may not listen on the port.
   */
  | 'forwarded'
  /** Some endpoints that the scheduler selects do not work for this client. */
  | 'partly'
  /** The client immediately gets an error: a TCP reset, or an ICMP message. */
  | 'refused'
  /** The client gets no answer. */
  | 'hangs'
  /** No route leads to the address, or no host of a link has it. */
  | 'unreachable'
  /** The path depends on something that is not understood. */
  | 'unknown';

/** A reason why a client cannot connect to a frontend, or to one of its endpoints. */
export type CauseCode =
  /** No address of this node equals the destination: the packet leaves the node, or no route leads to it. */
  | 'AddressNotBound'
  /** No route of this node leads to the client, or to the address that the node itself connects to. */
  | 'NoRoute'
  /** No Service has this port at the address. */
  | 'PortNotServed'
  /** The virtual service exists, but the entry that exempts it from KUBE-IPVS-FILTER is missing. */
  | 'EntryMissing'
  /** No virtual service has this address and port, and no process listens there. */
  | 'NoVirtualService'
  /** The node port is served on other addresses of the node only. */
  | 'NodePortAddress'
  /** The virtual service has no real server: the Service has no usable endpoint. */
  | 'NoRealServer'
  /** The traffic policy is Local, and the Service has no usable endpoint on this node. */
  | 'NoLocalEndpoint'
  /** All real servers have weight 0, or have reached their threshold. */
  | 'NoCapacity'
  /** The source ranges of the Service do not contain the client. */
  | 'SourceRanges'
  /** A rule, or the policy of a chain, drops or rejects the packet or its reply. */
  | 'Rule'
  /** The rules of the mode are incomplete. */
  | 'RulesMissing'
  /** The endpoint replies to the client directly, without this node: the client does not recognize the reply. */
  | 'ReplyBypasses'
  /** The endpoint connects to itself with its own address as the source. */
  | 'Hairpin'
  /** Frames between ports of a bridge do not pass the rules (`bridge-nf-call-iptables`). */
  | 'BridgeFilterOff'
  /** The table of connections is full: the kernel drops packets of new ones. */
  | 'ConntrackFull'
  /** IP forwarding is disabled. */
  | 'ForwardingOff'
  /** IPVS does not use conntrack, therefore nothing is masqueraded. */
  | 'ConntrackOff'
  /** A packet to a loopback address arrives from another host. */
  | 'Loopback'
  /** The kernel does not send packets of loopback addresses to other links (`route_localnet`). */
  | 'LocalnetOff'
  /** No route leads to the endpoint. */
  | 'EndpointUnreachable'
  /** The kernel asked on the link for the hardware address of the endpoint, or of the next hop, and nothing answered. */
  | 'NoNeighbour'
  /** The endpoint is an address of this node, and no process listens on its port. */
  | 'NoProcess';

/** A reason, and the fact that shows it. */
export interface Cause {
  readonly code: CauseCode;
  /** A sentence without a period. */
  readonly text: string;
}

/** One step on the path, in order. */
export interface Step {
  /** The place of the step: `nat/KUBE-SERVICES`, `kube-ipvs0`, `IPVS`. */
  readonly at: string;
  /** The event, as a sentence without a period. */
  readonly text: string;
  /** The state of the kernel that shows it: a rule as iptables-save prints it, a setting, an address. */
  readonly fact?: string;
  /** The endpoint that the step concerns, as `address:port`; absent if it concerns the packet before it is sent to one. */
  readonly endpoint?: string;
}

/** A server that may get the packet. */
export interface EndpointPath {
  /** `address:port`. */
  readonly endpoint: string;
  /** The weight of the real server of IPVS; absent in other modes. */
  readonly weight?: number;
  /** The probability that a rule selects it, from 0 to 1; absent in ipvs mode. */
  readonly share?: number;
  /** Whether the scheduler can select it. */
  readonly selectable: boolean;
  /** It is on this node: an address of the node, or of one of its pods. */
  readonly onThisNode: boolean;
  readonly masqueraded: boolean;
  /** The source address that the endpoint sees; absent if the packet does not reach it. */
  readonly source?: string;
  /**
   * `returns`: the replies pass this node. `depends`: they do if the network routes the address `source` to this node.
   * `bypasses`: they do not. Absent if the packet does not reach the endpoint.
   */
  readonly reply?: 'returns' | 'depends' | 'bypasses';
  /** In the words of {@link Verdict}. */
  readonly result: Exclude<Verdict, 'partly'>;
  /** The reason, unless it connects or is forwarded. */
  readonly cause?: Cause;
}

/** The virtual service that accepts the packet; in iptables mode the chain that selects an endpoint. */
interface ExplainedService {
  /** As ipvsadm prints it: `TCP 10.96.0.10:53`, `FWM 7`; in iptables mode the chain: `KUBE-SVC-TCOU7JCQXEZGVUNU`. */
  readonly name: string;
  /** In iptables mode `random`. */
  readonly scheduler: string;
  /** Timeout of persistence (session affinity), in s; 0 without persistence. */
  readonly persistence: number;
}

/** The path of the first packet of a connection, as the kernel is programmed now. */
export interface Explanation {
  readonly mode: string;
  readonly destination: Dialled;
  readonly client: {
    /** The source address of the packet. */
    readonly address: string;
    readonly place: ClientPlace;
    /** The reason for this address. */
    readonly reason: string;
  };
  readonly steps: readonly Step[];
  readonly virtualService?: ExplainedService;
  /** Every real server of the virtual service. */
  readonly endpoints: readonly EndpointPath[];
  /** `some`: it depends on the endpoint. Absent if no endpoint gets the packet. */
  readonly masquerade?: 'yes' | 'no' | 'some';
  /** A process of this node that gets the packet, because no Service does. */
  readonly process?: { readonly address: string; readonly port: number };
  readonly verdict: Verdict;
  /** The reasons, unless the verdict is `connects` or `forwarded`. */
  readonly causes: readonly Cause[];
  /** State of the node that differs from the state that the mode programs, even if this packet does not depend on it. */
  readonly warnings: readonly Cause[];
  /** Rules on the path that are not understood. The verdict is valid if they do not decide about the packet. */
  readonly notUnderstood: readonly { readonly at: string; readonly rule: string; readonly part: string }[];
  /**
   * What may decide about the packet and is not followed: base chains of other programs in nftables, strict reverse-path filters, links
   * with a smaller MTU. Sentences without a period.
   */
  readonly notJudged: readonly string[];
}

/** Explains packets, as the kernel is programmed now. */
export interface Explainer {
  /**
   * The path of a packet through this node. Changes nothing. Rejects with the NetlinkError of a part that cannot be read, or with
   * an Error if `from` has no address here.
   */
  explain(question: PacketQuestion): Promise<Explanation>;
  close(): void;
}
