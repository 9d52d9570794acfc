// Which other nodes answer this one.
import type { Flow } from '../../kernel/conntrack/types.js';

/**
 * What shows that a node does not answer: as a neighbour on a link of this node, it is asked by ARP or neighbour discovery; behind a
 * gateway, flows to its endpoints have no reply, and it does not answer TCP.
 */
export type ReachSign = 'neighbour' | 'flows';

/** A node has stopped to answer, or answers again. */
export interface ReachChange {
  readonly node: string;
  /** Its address that is asked; canonical. */
  readonly address: string;
  readonly sign: ReachSign;
  readonly reachable: boolean;
}

/** Who uses a watch. */
export interface ReachListener {
  /** Called for each change. A node that is not followed any more is reported as reachable. */
  changed(change: ReachChange): void;
  /** Called when the number of nodes changes that have answered: only these can be left. */
  judged(count: number): void;
  /** The node of the endpoint of a flow; undefined for a flow to no Service. */
  nodeOf(flow: Flow): string | undefined;
  /** The kernel could not be asked. It is asked again. */
  failed(error: unknown): void;
}

/** A watch of other nodes. */
export interface ReachWatch {
  /** Sets the nodes to watch: their addresses by name, the best first. */
  follow(nodes: ReadonlyMap<string, readonly string[]>): void;
  close(): void;
}
