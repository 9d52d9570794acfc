// The settings that a new link of each kind has and needs, as JavaScript types: what the compiler refuses of a link.
import type { RouteTable } from '../routes/types.js';
import type { BondSettings } from './kinds/bondTypes.js';
import type { BridgeSettings, VlanSettings } from './kinds/bridgeTypes.js';
import type { GeneveSettings, VxlanSettings } from './kinds/tunnelTypes.js';
import type { IpvlanSettings, MacvlanSettings, NetkitSettings, VrfSettings } from './kinds/upperTypes.js';
import type { LinkReference } from './reference.js';
import type { LinkKindSettings, NewLinkCommon, NewLinkSettings, VethPeer } from './types.js';

/** A new link does not have the settings of kinds other than `Own`. */
export type NoOtherKind<Own extends keyof LinkKindSettings | 'peer' | ''> = {
  readonly [Other in Exclude<keyof LinkKindSettings | 'peer', Own>]?: never;
};

/** Settings of a new bridge. */
export interface NewBridge extends NewLinkCommon, NoOtherKind<'bridge'> {
  readonly bridge?: BridgeSettings;
}

/** Settings of a new VLAN. */
export interface NewVlan extends NewLinkCommon, NoOtherKind<'vlan'> {
  readonly link: LinkReference;
  readonly vlan: VlanSettings & { readonly id: number };
}

/** Settings of a new veth. */
export interface NewVeth extends NewLinkCommon, NoOtherKind<'peer'> {
  readonly peer?: VethPeer;
}

/** Settings of a new bond. */
export interface NewBond extends NewLinkCommon, NoOtherKind<'bond'> {
  readonly bond?: BondSettings;
}

/** Settings of a new VXLAN: it has a number, or packets have it. */
export interface NewVxlan extends NewLinkCommon, NoOtherKind<'vxlan'> {
  readonly vxlan: VxlanSettings & ({ readonly id: number } | { readonly external: true });
}

/** Settings of a new VRF. */
export interface NewVrf extends NewLinkCommon, NoOtherKind<'vrf'> {
  readonly vrf: VrfSettings & { readonly table: RouteTable };
}

/** Settings of a new macvlan. */
export interface NewMacvlan extends NewLinkCommon, NoOtherKind<'macvlan'> {
  readonly link: LinkReference;
  readonly macvlan?: MacvlanSettings;
}

/** Settings of a new macvtap: a macvlan with a character device. */
export interface NewMacvtap extends NewLinkCommon, NoOtherKind<'macvtap'> {
  readonly link: LinkReference;
  readonly macvtap?: MacvlanSettings;
}

/** Settings of a new ipvlan. */
export interface NewIpvlan extends NewLinkCommon, NoOtherKind<'ipvlan'> {
  readonly link: LinkReference;
  readonly ipvlan?: IpvlanSettings;
}

/** Settings of a new ipvtap: an ipvlan with a character device. */
export interface NewIpvtap extends NewLinkCommon, NoOtherKind<'ipvtap'> {
  readonly link: LinkReference;
  readonly ipvtap?: IpvlanSettings;
}

/** Settings of a new tunnel of Geneve: it has a number, or packets have it. */
export interface NewGeneve extends NewLinkCommon, NoOtherKind<'geneve'> {
  readonly geneve: GeneveSettings & ({ readonly id: number } | { readonly external: true });
}

/** Settings of a new tunnel of IP of a kind. */
export type NewTunnel<Kind extends TunnelKind> = NewLinkCommon &
  NoOtherKind<Kind> &
  Pick<LinkKindSettings, Kind>;

/** Settings of a new netkit. */
export interface NewNetkit extends NewLinkCommon, NoOtherKind<'netkit' | 'peer'> {
  readonly netkit?: NetkitSettings;
  readonly peer?: VethPeer;
}

/** Settings of a new link of a kind that has none of its own here. */
export interface NewPlainLink extends NewLinkCommon, NoOtherKind<''> {}

/** The kinds of tunnels of IP. */
export type TunnelKind = 'gre' | 'gretap' | 'ip6gre' | 'ip6gretap' | 'ip6tnl' | 'ipip' | 'sit';

/** The kinds of links above another link. */
export type UpperKind = 'macvlan' | 'macvtap' | 'ipvlan' | 'ipvtap';

/** Settings of a new link above another one, which the four kinds have in common. */
export interface NewUpperLink extends NewPlainLink {
  readonly link: LinkReference;
}

/** The kinds with settings of their own, none of which a new link needs. */
export interface NewLinkOf extends NewTunnelOf {
  readonly bridge: NewBridge;
  readonly veth: NewVeth;
  readonly bond: NewBond;
  readonly netkit: NewNetkit;
}

/** Those of them that are tunnels of IP. */
export type NewTunnelOf = { readonly [Kind in TunnelKind]: NewTunnel<Kind> };

/** The kinds with settings that a new link needs. */
export interface NewLinkThatNeeds {
  readonly vlan: NewVlan;
  readonly vxlan: NewVxlan;
  readonly geneve: NewGeneve;
  readonly vrf: NewVrf;
  readonly macvlan: NewMacvlan;
  readonly macvtap: NewMacvtap;
  readonly ipvlan: NewIpvlan;
  readonly ipvtap: NewIpvtap;
}

/** A new link. Its kind decides which settings it has and needs; a kind without a name here may have the common ones. */
export type NewLink =
  | {
      [Kind in keyof NewLinkOf]: { readonly kind: Kind; readonly settings?: NewLinkOf[Kind] };
    }[keyof NewLinkOf]
  | {
      [Kind in keyof NewLinkThatNeeds]: { readonly kind: Kind; readonly settings: NewLinkThatNeeds[Kind] };
    }[keyof NewLinkThatNeeds]
  | { readonly kind: string & {}; readonly settings?: NewPlainLink };

/**
 * A kind that has none of the signatures of `addLink` for itself: a text, or a literal of another kind. Netlink does not create the
 * kind `tun`.
 */
export type OtherKind<Kind extends string> = Kind extends keyof NewLinkOf | keyof NewLinkThatNeeds | 'tun'
  ? never
  : Kind;

/** What an operation must have beside its type: that of links allows any text as kind, also a kind that needs settings, without them. */
export type WithNeededSettings<Operation> = Operation extends {
  readonly do: 'addLink';
  readonly kind: infer Kind;
}
  ? Kind extends keyof NewLinkThatNeeds
    ? { readonly settings: NewLinkThatNeeds[Kind] }
    : Kind extends 'tun'
      ? never
      : unknown
  : unknown;

/** Settings of a new link of another kind: all, if the kind is any text. */
export type OtherSettings<Kind extends string> = string extends Kind ? NewLinkSettings : NewPlainLink;
