// The state of the kernel on which the path of a packet depends in ipvs mode.
import type { RealServer, RealServerState, VirtualService } from '../../../kernel/ipvs/types.js';
import type { PathFacts } from '../shared/facts.js';

/** A real server with its connections. */
export type ExplainedServer = RealServer & Pick<RealServerState, 'activeConnections' | 'inactiveConnections'>;

/** Read once; an explanation is computed from it alone. */
export interface ExplainFacts extends PathFacts {
  /** All virtual services of the family. */
  readonly services: readonly VirtualService[];
  /** Real servers of the virtual services that the packet may use, by name, see `serviceName`. */
  readonly realServers: ReadonlyMap<string, readonly ExplainedServer[]>;
}

/** The setting without which IPVS masquerades nothing, as a path below /proc/sys. */
export const CONNTRACK = 'net/ipv4/vs/conntrack';
