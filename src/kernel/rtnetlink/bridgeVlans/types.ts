// VLANs of bridges and their ports, as JavaScript values. Source of every rule: include/uapi/linux/if_bridge.h, net/bridge/br_vlan.c,
// bridge(8).
import type { LinkReference } from '../links/reference.js';

/** The name of a VLAN of a bridge or a port, or of several of them. */
export interface BridgeVlanId {
  /** Name or index of the port; with `self`, of the bridge. */
  readonly link: LinkReference;
  /** 1–4094. */
  readonly vlan: number;
  /** The last of several: 1–4094, not less than `vlan`. Default: `vlan`. */
  readonly lastVlan?: number;
  /** Of the bridge itself: which frames the host receives and sends. Default false. */
  readonly self?: boolean;
}

/** VLANs that are added, or changed if they are there. */
export interface NewBridgeVlan extends BridgeVlanId {
  /** Frames without a tag belong to it; not of several. It is then no other's. Default false. */
  readonly pvid?: boolean;
  /** Frames are sent without a tag. Default false. */
  readonly untagged?: boolean;
}

/** A VLAN as the kernel lists it. It can be written and deleted. */
export interface BridgeVlan extends NewBridgeVlan {
  /** Name of the port, or of the bridge. */
  readonly link: string;
  /** Whether it is one of the bridge itself. */
  readonly self: boolean;
  /** Whether frames without a tag belong to it. */
  readonly pvid: boolean;
  /** Whether frames are sent without a tag. */
  readonly untagged: boolean;
}
