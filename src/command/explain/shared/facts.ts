// The state of the kernel on which the path of a packet depends in every mode with iptables rules.
import type { SetState } from '../../../kernel/ipset/types.js';
import type { SavedTables } from '../../../kernel/iptables/types.js';
import type { Family } from '../../../kernel/net/address.js';
import type { Neighbour } from '../../../kernel/rtnetlink/types.js';
import type { ListeningSocket } from '../../kernel/procNet/types.js';
import type { TopologyFacts } from '../packet/topology.js';

/** Read once; an explanation is computed from it alone. */
export interface PathFacts extends TopologyFacts {
  readonly family: Family;
  readonly tables: SavedTables;
  /** The sets that rules of the family name. */
  readonly sets: ReadonlyMap<string, SetState>;
  readonly sockets: readonly ListeningSocket[];
  /** The neighbours of the family on all links. */
  readonly neighbours: readonly Pick<Neighbour, 'link' | 'address' | 'state'>[];
  /** Values of {@link pathSettings} and of the mode's settings, by path below /proc/sys; absent if the kernel does not have one. */
  readonly settings: ReadonlyMap<string, string>;
  /** Base chains of other programs in nftables, which are not followed: `table inet np, chain output (hook output, priority 0)`. Absent: none. */
  readonly unread?: readonly string[];
  /** The MTU of each link, by name. Absent: unknown. */
  readonly mtus?: ReadonlyMap<string, number>;
}

/** The number of tracked connections and its limit, as paths below /proc/sys. A kernel that tracks none has neither. */
export const CONNECTIONS = {
  count: 'net/netfilter/nf_conntrack_count',
  max: 'net/netfilter/nf_conntrack_max',
} as const;

/** The filters of reverse paths of links, as paths below /proc/sys. IPv6 has none. */
export function reversePathFilters(links: readonly string[], family: Family): string[] {
  return family === 4 ? links.map((link) => `net/ipv4/conf/${link}/rp_filter`) : [];
}

/** The settings on which the path depends in every mode, as paths below /proc/sys. */
interface PathSettings {
  readonly forwarding: string;
  readonly bridgeFilter: string;
}

/** The names of the settings in a family. */
export function pathSettings(family: Family): PathSettings {
  return {
    forwarding: family === 4 ? 'net/ipv4/ip_forward' : 'net/ipv6/conf/all/forwarding',
    bridgeFilter: `net/bridge/bridge-nf-call-${family === 4 ? 'iptables' : 'ip6tables'}`,
  };
}

/** A setting that is on or off. */
export interface Setting {
  readonly on: boolean;
  /** As sysctl prints it: `net.ipv4.ip_forward = 0`. */
  readonly text: string;
}

/** A setting of the facts, by its path below /proc/sys. */
export function settingIn({ settings }: Pick<PathFacts, 'settings'>, path: string): Setting {
  const value = settings.get(path);
  return {
    on: value !== undefined && value !== '0',
    text: `${path.replaceAll('/', '.')} ${value === undefined ? 'does not exist' : `= ${value}`}`,
  };
}
