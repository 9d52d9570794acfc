// The node's own plan in ipvs mode: settings, the device, sets and chains, and the rules that follow from all Services.
import { type Family, familyOf } from '../../net/address.js';
import type { NodeFacts } from '../../services/types.js';
import type { Desired, Plan } from '../mode.js';
import { type Item, isNodeDropGroup, itemMap, LINK, type NodeDrop, nodeDropGroup } from './items.js';
import type { IpvsOptions } from './options.js';
import { chains, jumps } from './rules.js';
import { defineSet, hashSizeFor, SET_ROLES, type SetRole, setOf } from './sets.js';

/** The items of the node. Its cost does not depend on the number of services. */
export function planNode(desired: Desired<Item>, node: NodeFacts, options: IpvsOptions): Plan<Item> {
  return itemMap([
    ...sysctls(options).map(([name, value]): Item => ({ kind: 'sysctl', name, value })),
    ...(Object.values(options.timeouts).some((seconds) => seconds > 0)
      ? [{ kind: 'timeouts', ...options.timeouts } as const]
      : []),
    { kind: 'link', name: LINK },
    ...options.families.flatMap((family) => planFamily(family, desired, node, options)),
  ]);
}

/** Rules depend on which sets are empty and on every drop for the node; a set's size on the power of two above its entries. */
export function affectsNode(group: string, before: number, now: number): boolean {
  if (isNodeDropGroup(group)) return true;
  return (before === 0) !== (now === 0) || hashSizeFor(before) !== hashSizeFor(now);
}

function planFamily(family: Family, desired: Desired<Item>, node: NodeFacts, options: IpvsOptions): Item[] {
  const size = (name: string) => desired.group(name).size;
  const nodeDrops = [...desired.group(nodeDropGroup(family))].map((key) => desired.get(key) as NodeDrop);
  const facts = {
    has: (role: SetRole) => size(setOf(role, family).name) > 0,
    nodeDrops,
    podNetwork: node.podCIDRs.find((network) => familyOf(network) === family),
  };
  return [
    ...SET_ROLES.map((role): Item => {
      const set = defineSet(role, family, size(setOf(role, family).name));
      return { kind: 'set', set };
    }),
    ...chains(family, facts, options).map((chain): Item => ({ kind: 'chain', ...chain })),
    ...jumps(family).map((jump): Item => ({ kind: 'jump', ...jump })),
  ];
}

/** Kernel settings without which ipvs mode does not work, as paths below /proc/sys. */
export function sysctls({ strictARP, kernelRelease }: IpvsOptions): [name: string, value: string][] {
  const reuse = reuseModeIsHarmful(kernelRelease);
  return [
    // Conntrack entries for IPVS connections: masquerading needs them.
    ['net/ipv4/vs/conntrack', '1'],
    ...(reuse ? ([['net/ipv4/vs/conn_reuse_mode', '0']] as [string, string][]) : []),
    // A connection whose real server is gone is reset by its next packet, not black-holed.
    ['net/ipv4/vs/expire_nodest_conn', '1'],
    // Persistence must not hold clients to a real server that is draining.
    ['net/ipv4/vs/expire_quiescent_template', '1'],
    ['net/ipv4/ip_forward', '1'],
    ...(strictARP
      ? ([
          ['net/ipv4/conf/all/arp_ignore', '1'],
          ['net/ipv4/conf/all/arp_announce', '2'],
        ] as [string, string][])
      : []),
  ];
}

/** From 4.1 to 5.8, reuse mode 1 delays a reused client port by a second when conntrack is on; 5.9 cured it. */
function reuseModeIsHarmful(kernelRelease: string): boolean {
  const [major = 0, minor = 0] = kernelRelease.split('.').map((part) => Number.parseInt(part, 10));
  const version = major * 1000 + minor;
  return version >= 4001 && version < 5009;
}
