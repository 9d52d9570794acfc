// Routes and sockets of a network namespace, as the files of /proc/net list them. Source: proc(5), net/ipv4/fib_trie.c,
// net/ipv6/route.c, Documentation/networking/proc_net_tcp.rst.
import type { Family } from '../../../kernel/net/address.js';
import type { Protocol } from '../../../kernel/net/protocol.js';

/** A route to a network. */
export interface NetworkRoute {
  /** Canonical network: `10.244.0.0/16`; `0.0.0.0/0` for the default route. */
  readonly network: string;
  /** Canonical address of the next hop; absent if the destinations are on the link itself. */
  readonly gateway?: string;
  /** Name of the link. */
  readonly link: string;
  /** Of routes to one network, the kernel uses that with the lowest metric. */
  readonly metric: number;
  /** The route rejects packets (`unreachable`, `blackhole`, `prohibit`). */
  readonly rejects?: true;
}

/** A socket that receives packets of new clients: TCP in state LISTEN, or UDP without a peer. */
export interface ListeningSocket {
  readonly protocol: Protocol;
  /** Canonical address; `0.0.0.0` or `::` for all addresses. */
  readonly address: string;
  readonly port: number;
}

/** The files below /proc/net of the network namespace of the process. */
export interface ProcNet {
  /**
   * The routes of a family: for IPv4 those of table main, for IPv6 those of all tables except local addresses. Policy
   * rules (`ip rule`) are not listed there.
   */
  routes(family: Family): Promise<NetworkRoute[]>;
  /** The sockets of TCP and UDP that listen, of both families. */
  listeningSockets(): Promise<ListeningSocket[]>;
}
