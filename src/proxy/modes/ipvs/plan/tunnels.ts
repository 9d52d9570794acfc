// Direct return through tunnels, for Services with `forwarding: tunnel`. IPVS of the first node wraps a packet without changing it. The node
// of the endpoint unwraps it, and IPVS of that node chooses the same endpoint, to which it translates. Pure. The tunnels are GRE: for IP in
// IPv6, the kernel demands that the destination, which is the endpoint, be an address of the node (ip6_tnl_rcv_ctl()), and a device for all
// tunnels of IP in IP would take the packets of an overlay network.
import type { Encapsulation, RealServer } from '../../../../kernel/ipvs/types.js';
import {
  COMMON_SETTINGS,
  commonServer,
  type RealServers,
  RealServersBuilder,
} from '../../../../kernel/ipvs/values/serverLists.js';
import { type Family, familyOf } from '../../../../kernel/net/address.js';
import type { AddressPorts } from '../../../../kernel/net/addressPorts.js';
import type {
  Link,
  LinkAddress,
  NewRoute,
  NewRule,
  Route,
  RtnetlinkOperation,
  Rule,
} from '../../../../kernel/rtnetlink/types.js';
import type { ServiceSettings } from '../../../services/settings/types.js';
import type { Frontend, NodeFacts, ServicePort } from '../../../services/types.js';
import type { IpvsOptions } from './options.js';
import { includes } from './realServers.js';

/** What IPVS wraps packets in. Linux 5.3. */
const GRE: Encapsulation = { type: 'gre', checksum: 'none' };

/**
 * The devices that unwrap packets, whatever their destination: those which the modules ip_gre and ip6_gre add for all tunnels without a device of their
 * own.
 */
export const TUNNEL_LINKS: Readonly<Record<Family, string>> = { 4: 'gre0', 6: 'ip6gre0' };

/** The table with the local routes of endpoints. */
export const TUNNEL_TABLE = 4747;

/** The priorities of the rules. Both are before that of table main, 32766. */
const PRIORITY = { leave: 4746, enter: 4747 } as const;

/** `IPPROTO_GRE` */
const GRE_PROTOCOL = 47;

/** Says that the proxy set the device up. */
const ALIAS = 'kube-netlink-proxy';

/** A device without an address of IPv4 passes no packets with reverse path filtering. */
const ADDRESS = '127.47.0.1';

/** A device that unwraps packets, as far as the proxy sets it. */
export interface TunnelLink {
  readonly kind: 'tunnelLink';
  readonly family: Family;
  /** It is up, with all settings. Absent: only with a part of them. */
  readonly whole?: true;
}

/**
 * A rule of policy routing. Without `from`: packets of GRE to an endpoint of this node are for the node. With it, the link of a tunnel: its packets are
 * for addresses of the node only, and are never forwarded.
 */
export interface TunnelRule {
  readonly kind: 'tunnelRule';
  readonly family: Family;
  readonly from?: string;
}

/** The route by which the node receives the tunnels to an endpoint. */
export interface TunnelRoute {
  readonly kind: 'tunnelRoute';
  /** Address of the endpoint. */
  readonly address: string;
}

/** The beginning of the groups of routes. */
export const TUNNEL_ROUTES = 'tunnelRoute ';

/** The group of a family's routes. */
export function tunnelRouteGroup(family: Family): string {
  return `${TUNNEL_ROUTES}${family}`;
}

/** Settings of the devices. A device lets IPv4 in with its address and 2 (RFC 3704, loose), and not without an address and with 1. */
export const TUNNEL_SYSCTLS: Readonly<Record<Family, readonly [name: string, value: string]>> = {
  4: ['net/ipv4/conf/gre0/rp_filter', '2'],
  6: ['net/ipv4/conf/ip6gre0/rp_filter', '1'],
};

/** The items by which a node receives tunnels, in all families: each device takes packets of both. */
export function tunnelItems(families: readonly Family[]) {
  return families.flatMap((family) => {
    const [name, value] = TUNNEL_SYSCTLS[family];
    const leaves = families.map((each): TunnelRule => {
      return { kind: 'tunnelRule', family, from: TUNNEL_LINKS[each] };
    });
    return [
      { kind: 'sysctl', name, value } as const,
      { kind: 'tunnelLink', family, whole: true } as const,
      ...leaves,
      { kind: 'tunnelRule', family } as const,
    ];
  });
}

/** The operations that set a device up. Each can be repeated. */
export function raiseLink({ family }: TunnelLink): RtnetlinkOperation[] {
  const link = TUNNEL_LINKS[family];
  const settings = { up: true, alias: ALIAS };
  if (family === 6) return [{ do: 'setLink', link, settings: { ...settings, addressGeneration: 'none' } }];
  return [
    { do: 'setLink', link, settings },
    { do: 'addAddress', address: { link, address: ADDRESS, prefix: 32 } },
  ];
}

/** The operations that set a device down. Each can be repeated. */
export function lowerLink({ family }: TunnelLink): RtnetlinkOperation[] {
  const link = TUNNEL_LINKS[family];
  const down: RtnetlinkOperation = { do: 'setLink', link, settings: { up: false, alias: '' } };
  if (family === 6) return [down];
  return [{ do: 'deleteAddress', address: { link, address: ADDRESS, prefix: 32 } }, down];
}

/** The device as an item; undefined if the proxy has not set it up. */
export function tunnelLinkOf(
  family: Family,
  { alias, up }: Link,
  addresses: readonly LinkAddress[],
): TunnelLink | undefined {
  if (alias !== ALIAS) return undefined;
  const isWhole = up && (family === 6 || addresses.some(({ address }) => address === ADDRESS));
  return { kind: 'tunnelLink', family, ...(isWhole && { whole: true }) };
}

/** A rule as rtnetlink has it. */
export function ruleOf({ family, from }: TunnelRule): NewRule {
  return from === undefined
    ? { family, priority: PRIORITY.enter, ipProtocol: GRE_PROTOCOL, table: TUNNEL_TABLE }
    : { family, priority: PRIORITY.leave, inputLink: from, action: 'unreachable' };
}

/** The item of a rule that was read; undefined if it is not ours. */
export function tunnelRuleOf(rule: Rule): TunnelRule | undefined {
  const { family, priority, ipProtocol, table, inputLink, action } = rule;
  const enters = priority === PRIORITY.enter && ipProtocol === GRE_PROTOCOL && table === TUNNEL_TABLE;
  if (enters) return { kind: 'tunnelRule', family };
  if (priority !== PRIORITY.leave || action !== 'unreachable' || inputLink === undefined) return undefined;
  return Object.values(TUNNEL_LINKS).includes(inputLink)
    ? { kind: 'tunnelRule', family, from: inputLink }
    : undefined;
}

/** A route as rtnetlink has it. */
export function routeOf({ address }: TunnelRoute): NewRoute {
  return {
    ...{ destination: address, type: 'local', table: TUNNEL_TABLE, link: 'lo', protocol: 'static' },
  } as const;
}

/** The item of a route of the table; undefined if it is not ours. */
export function tunnelRouteOf({ destination, type, table }: Route): TunnelRoute | undefined {
  const [address = '', prefix] = destination.split('/');
  const isWhole = Number(prefix) === (familyOf(address) === 4 ? 32 : 128);
  if (type !== 'local' || table !== TUNNEL_TABLE || !isWhole) return undefined;
  return { kind: 'tunnelRoute', address };
}

/**
 * Whether the endpoints of a port on other nodes may be reached through tunnels. All nodes must choose the same endpoint: the order of `mh`
 * must be one, and no hint may select endpoints for some nodes. Without masquerading, replies of an endpoint without a tunnel would bypass
 * this node, so that all nodes of endpoints must be known. Clients of the cluster use the cluster IP.
 */
export function allowsTunnels(
  { affinitySeconds, endpoints, frontends }: ServicePort,
  { forwarding, scheduler }: ServiceSettings,
  node: NodeFacts,
  { cures }: IpvsOptions,
): boolean {
  const isAlike = scheduler === 'mh' && affinitySeconds === 0 && cures.has('node-failover');
  if (forwarding !== 'tunnel' || !isAlike || node.name === '') return false;
  const hasHints = endpoints.zoneHints !== undefined || endpoints.nodeHints !== undefined;
  return !hasHints && endpoints.areOnKnownNodes && clusterFrontend(frontends) !== undefined;
}

/** The cluster IP that clients in the cluster use instead of an address with tunnels. */
export function clusterFrontend(frontends: readonly Frontend[]): Frontend | undefined {
  return frontends.find(({ kind, localPolicy }) => kind === 'clusterIP' && !localPolicy);
}

/** Whether a frontend of a port that allows tunnels has them. Clients with source ranges are checked at this address, not at the cluster IP. */
export function isTunnelled({ kind, localPolicy, sourceRanges }: Frontend): boolean {
  const isOutside = kind === 'externalIP' || kind === 'loadBalancerIP';
  return isOutside && !localPolicy && sourceRanges.length === 0;
}

/** Real servers of which those on other nodes are reached through tunnels. @param here the endpoints of this node */
export function throughTunnels({ realServers, others }: RealServers, here: AddressPorts): RealServers {
  const builder = new RealServersBuilder(realServers.family);
  const add = (server: RealServer) =>
    builder.add(includes(here, server) ? server : { ...server, forwarding: 'tunnel', encapsulation: GRE });
  for (let index = 0; index < realServers.size; index++) add(commonServer(realServers, index));
  if (others) for (const server of others.values()) add(server);
  return builder.build();
}

/** Real servers without tunnels. */
export function withoutTunnels({ realServers, others }: RealServers): RealServers {
  const builder = new RealServersBuilder(realServers.family);
  for (let index = 0; index < realServers.size; index++) builder.common.addFrom(realServers, index);
  if (others)
    for (const { encapsulation: _, ...server } of others.values())
      builder.add({ ...server, forwarding: COMMON_SETTINGS.forwarding });
  return builder.build();
}
