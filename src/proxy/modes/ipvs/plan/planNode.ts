// The node's own plan in ipvs mode: settings, kube-ipvs0, sets, chains and rules.
import { type Family, familyOf } from '../../../../kernel/net/address.js';
import type { NodeFacts } from '../../../services/types.js';
import type { Desired, Plan } from '../../mode.js';
import {
  type Item,
  isRuleGroup,
  itemMap,
  LINK,
  type NodeDrop,
  nodeDropGroup,
  type Shortcut,
  shortcutGroup,
} from './items.js';
import type { IpvsOptions } from './options.js';
import { chains, jumps } from './rules.js';
import { defineSet, hashSizeFor, SET_ROLES, type SetRole, setOf } from './sets.js';
import { tableChains } from './tableChains.js';
import { TUNNEL_ROUTES, tunnelItems, tunnelRouteGroup } from './tunnels.js';

/** The items of the node. The cost does not depend on the number of Services. */
export function planNode(desired: Desired<Item>, node: NodeFacts, options: IpvsOptions): Plan<Item> {
  return itemMap([
    ...sysctls(options).map(([name, value]): Item => ({ kind: 'sysctl', name, value })),
    ...(Object.values(options.timeouts).some((seconds) => seconds > 0)
      ? [{ kind: 'timeouts', ...options.timeouts } as const]
      : []),
    { kind: 'link', name: LINK },
    ...(receives(desired, options) ? tunnelItems(options.families) : []),
    ...options.families.flatMap((family) => planFamily(family, desired, node, options)),
  ]);
}

/** Whether endpoints of this node are reached through tunnels. */
function receives(desired: Desired<Item>, { families }: IpvsOptions): boolean {
  return families.some((family) => desired.groupSize(tunnelRouteGroup(family)) > 0);
}

/**
 * Rules depend on empty sets, on all nodeDrops and shortcuts; the hash size of a set on the number of its entries. Those of nf_tables depend on
 * tunnels alone.
 */
export function affectsNode(
  rules: IpvsOptions['rules'],
  group: string,
  before: number,
  now: number,
): boolean {
  if (rules === 'nftables') return group.startsWith(TUNNEL_ROUTES) && (before === 0) !== (now === 0);
  return isRuleGroup(group) || (before === 0) !== (now === 0) || hashSizeFor(before) !== hashSizeFor(now);
}

function planFamily(family: Family, desired: Desired<Item>, node: NodeFacts, options: IpvsOptions): Item[] {
  const ofNode = {
    receivesTunnels: receives(desired, options),
    podNetwork: node.podCIDRs.find((network) => familyOf(network) === family),
  };
  // All rules are there at any time, and its sets have no size.
  if (options.rules === 'nftables')
    return [{ kind: 'table', family }, ...tableChains(family, ofNode, options)];
  const size = (role: SetRole) => desired.groupSize(setOf(role, family).name);
  const nodeDrops = [...desired.group(nodeDropGroup(family))].map((key) => desired.get(key) as NodeDrop);
  const shortcuts = [...desired.group(shortcutGroup(family))].map((key) => desired.get(key) as Shortcut);
  const facts = {
    has: (role: SetRole) => size(role) > 0,
    nodeDrops,
    shortcuts,
    ...ofNode,
  };
  return [
    ...SET_ROLES.map((role): Item => ({ kind: 'set', set: defineSet(role, family, size(role)) })),
    ...chains(family, facts, options).map((chain): Item => ({ kind: 'chain', ...chain })),
    ...jumps(family).map((jump): Item => ({ kind: 'jump', ...jump })),
  ];
}

/** Whether a packet of a connection whose real server was deleted ends the connection; otherwise, only the packet is dropped. */
export const EXPIRE_NODEST = 'net/ipv4/vs/expire_nodest_conn';

/** Settings that ipvs mode requires, as paths below /proc/sys. */
export function sysctls({ strictARP, kernelRelease, cures }: IpvsOptions): [name: string, value: string][] {
  const reuse = reuseModeIsHarmful(kernelRelease);
  return [
    // Masquerading needs conntrack entries for IPVS connections.
    ['net/ipv4/vs/conntrack', '1'],
    ...(reuse ? ([['net/ipv4/vs/conn_reuse_mode', '0']] as [string, string][]) : []),
    // The next packet resets a connection whose real server was deleted, instead of being dropped.
    [EXPIRE_NODEST, '1'],
    // Persistence must not select a draining real server.
    ['net/ipv4/vs/expire_quiescent_template', '1'],
    // A packet of a connection that another node had opened is scheduled as a SYN would be: to the same endpoint, with equal tables.
    ...(cures.has('node-failover') ? ([['net/ipv4/vs/sloppy_tcp', '1']] as [string, string][]) : []),
    ['net/ipv4/ip_forward', '1'],
    ...(strictARP
      ? ([
          ['net/ipv4/conf/all/arp_ignore', '1'],
          ['net/ipv4/conf/all/arp_announce', '2'],
        ] as [string, string][])
      : []),
  ];
}

/** From Linux 4.1 to 5.8, mode 1 with conntrack delays the reuse of a client port by 1 s; fixed in 5.9. */
function reuseModeIsHarmful(kernelRelease: string): boolean {
  const [major = 0, minor = 0] = kernelRelease.split('.').map((part) => Number.parseInt(part, 10));
  const version = major * 1000 + minor;
  return version >= 4001 && version < 5009;
}
