// The kinds of links that have settings, by their names, which are also the names of the fields.
import { BOND, BOND_PORT } from './bond.js';
import { BRIDGE, BRIDGE_PORT } from './bridge.js';
import { GENEVE } from './geneve.js';
import { GRE, IP6GRE, IP6TNL, IPIP, SIT } from './ipTunnel.js';
import type { KindFormat } from './kind.js';
import { IPVLAN, MACVLAN, NETKIT, TUN, VRF, VRF_PORT } from './upper.js';
import { VLAN } from './vlan.js';
import { VXLAN } from './vxlan.js';

/** A kind of any settings. */
type AnyKind = KindFormat<never, object>;

/** The kinds whose settings are written. */
export const WRITTEN_KINDS = {
  bridge: BRIDGE,
  vlan: VLAN,
  bond: BOND,
  vxlan: VXLAN,
  macvlan: MACVLAN,
  macvtap: MACVLAN,
  ipvlan: IPVLAN,
  ipvtap: IPVLAN,
  vrf: VRF,
  geneve: GENEVE,
  gre: GRE,
  gretap: GRE,
  ip6gre: IP6GRE,
  ip6gretap: IP6GRE,
  ip6tnl: IP6TNL,
  ipip: IPIP,
  sit: SIT,
  netkit: NETKIT,
} as const;

/** A kind whose settings are written. */
export type WrittenKind = keyof typeof WRITTEN_KINDS;
/** Their names. */
export const WRITTEN_KIND_NAMES = Object.keys(WRITTEN_KINDS) as readonly WrittenKind[];

/** The kinds of pairs of links, which are created together. The other end has the same attribute in both. */
export const PAIRS: ReadonlySet<string> = new Set(['veth', 'netkit']);

/** The kinds whose settings are listed. */
export const LISTED_KINDS: ReadonlyMap<string, AnyKind> = new Map<string, AnyKind>([
  ...Object.entries(WRITTEN_KINDS),
  ['tun', TUN],
]);

/** The kinds of masters whose ports have settings that are written, with the field of a link that has them. */
export const WRITTEN_PORTS = {
  bridge: { field: 'bridgePort', format: BRIDGE_PORT },
  bond: { field: 'bondPort', format: BOND_PORT },
} as const;

/** The same of those that are listed. */
export const LISTED_PORTS: ReadonlyMap<string, { readonly field: string; readonly format: AnyKind }> =
  new Map<string, { readonly field: string; readonly format: AnyKind }>([
    ...Object.entries(WRITTEN_PORTS),
    ['vrf', { field: 'vrfPort', format: VRF_PORT }],
  ]);
