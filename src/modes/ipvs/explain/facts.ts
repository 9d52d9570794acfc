// The state of the kernel on which the path of a packet depends in ipvs mode.
import type { SetState } from '../../../kernel/ipset/types.js';
import type { SavedTables } from '../../../kernel/iptables/types.js';
import type { RealServer, RealServerState, VirtualService } from '../../../kernel/ipvs/types.js';
import type { ListeningSocket } from '../../../kernel/procNet/types.js';
import type { Family } from '../../../net/address.js';
import type { TopologyFacts } from '../../shared/packet/topology.js';

/** A real server with its connections. */
export type ExplainedServer = RealServer & Pick<RealServerState, 'activeConnections' | 'inactiveConnections'>;

/** Read once; an explanation is computed from it alone. */
export interface ExplainFacts extends TopologyFacts {
  readonly family: Family;
  readonly tables: SavedTables;
  /** The sets that rules of the family name. */
  readonly sets: ReadonlyMap<string, SetState>;
  /** All virtual services of the family. */
  readonly services: readonly VirtualService[];
  /** Real servers of the virtual services that the packet may use, by {@link serviceName}. */
  readonly realServers: ReadonlyMap<string, readonly ExplainedServer[]>;
  readonly sockets: readonly ListeningSocket[];
  /** Values of {@link settingNames}, by path below /proc/sys; absent if the kernel does not have the setting. */
  readonly settings: ReadonlyMap<string, string>;
}

/** The settings on which the path depends, as paths below /proc/sys. */
export interface SettingNames {
  readonly conntrack: string;
  readonly forwarding: string;
  readonly bridgeFilter: string;
}

/** The names of the settings in a family. */
export function settingNames(family: Family): SettingNames {
  return {
    conntrack: 'net/ipv4/vs/conntrack',
    forwarding: family === 4 ? 'net/ipv4/ip_forward' : 'net/ipv6/conf/all/forwarding',
    bridgeFilter: `net/bridge/bridge-nf-call-${family === 4 ? 'iptables' : 'ip6tables'}`,
  };
}

/** A setting as sysctl prints it: `net.ipv4.ip_forward = 0`. */
export function settingText(facts: ExplainFacts, name: string): string {
  const value = facts.settings.get(name);
  return `${name.replaceAll('/', '.')} ${value === undefined ? 'does not exist' : `= ${value}`}`;
}
