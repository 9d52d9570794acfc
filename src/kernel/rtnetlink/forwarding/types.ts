// Entries of the forwarding databases of bridges, VXLANs and other links, as JavaScript values. Source of every rule:
// include/uapi/linux/neighbour.h, net/core/rtnetlink.c (rtnl_fdb_add), net/bridge/br_fdb.c, drivers/net/vxlan/vxlan_core.c, bridge(8).
import type { ListedAttribute } from '../../shared/types.js';
import type { LinkReference } from '../links/reference.js';
import type { RouteProtocol, UnnamedFlag } from '../routes/types.js';

/**
 * The state of an entry (`NUD_`): `permanent`, an address of the host; `static`, which does not age (`NUD_NOARP`); `dynamic`, which ages
 * (`NUD_REACHABLE`); `stale`, whose time is over. Or another number from 0 to 65535. A bridge has all of them, a VXLAN `permanent` and
 * `dynamic`, and other links `permanent`.
 */
export type ForwardingState = 'permanent' | 'static' | 'dynamic' | 'stale' | number;

/** A flag of an entry (`NTF_`). `use` is written only; `offload` and `locked` (Linux 6.1) are listed only. */
export type ForwardingFlag =
  | 'use'
  | 'extern_learn'
  | 'offload'
  | 'sticky'
  | 'router'
  | 'locked'
  | UnnamedFlag;

/** The name of an entry. */
export interface ForwardingEntryId {
  /** Name or index of the link: of a port of a bridge, a bridge, a VXLAN or another link. */
  readonly link: LinkReference;
  /** Six bytes in hexadecimal, with colons. `00:00:00:00:00:00` of a VXLAN: every address that has no entry. */
  readonly hardwareAddress: string;
  /** In the database of the bridge of which the link is a port. Default false: in that of the link itself. */
  readonly master?: boolean;
  /** VLAN of a bridge, 1–4094; EINVAL for one that the port does not have. By default none, and each VLAN of the port. */
  readonly vlan?: number;
  /** VXLAN: address of the other end, of the family of the VXLAN's own addresses. One of several, if the entry has several. */
  readonly destination?: string;
  /** VXLAN: UDP port of the other end. Default: that of the VXLAN. */
  readonly port?: number;
  /** VXLAN: network identifier that is sent to the other end, 0–16777215. Default: that of the VXLAN. */
  readonly vni?: number;
  /** VXLAN: name or index of the link by which the other end is reached. */
  readonly outputLink?: LinkReference;
  /** VXLAN that is external: the identifier in packets from here, 0–16777215. */
  readonly sourceVni?: number;
}

/** An entry that is written. */
export interface NewForwardingEntry extends ForwardingEntryId {
  /** Default `permanent`. */
  readonly state?: ForwardingState;
  readonly flags?: readonly ForwardingFlag[];
  /** VXLAN: a nexthop object, instead of `destination`, with its other ends. Linux 5.8. */
  readonly nextHopId?: number;
  /** Linux 6.6; of bridges. */
  readonly protocol?: RouteProtocol;
}

/** An entry as the kernel lists it. It is also the name of the entry, and can be written. */
export interface ForwardingEntry extends NewForwardingEntry {
  /** Name of the link. */
  readonly link: string;
  readonly master: boolean;
  readonly state: ForwardingState;
  readonly flags: readonly ForwardingFlag[];
  /** Time since it was used, in s. */
  readonly used?: number;
  /** Time since it changed, in s. */
  readonly updated?: number;
  /** Attributes that have no field here. The entry cannot be written with them. */
  readonly attributes?: readonly ListedAttribute[];
}
