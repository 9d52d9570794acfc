// The real servers of a virtual service as a compact value: nearly all have the settings of plans, and of these only the
// addresses and ports are stored.
import type { RealServer, RealServerId } from '../../kernel/ipvs/types.js';
import { type Family, familyOf, joinHostPort } from '../../net/address.js';
import { AddressPorts, AddressPortsBuilder } from '../../net/addressPorts.js';

/** The real servers of a virtual service. Immutable. */
export interface RealServers {
  /** Those with weight 1, masquerading and no thresholds, as plans have them. Of the family of the virtual service. */
  readonly realServers: AddressPorts;
  /**
   * Those with other settings, by `address:port`: draining ones, and those that another program added or changed. Absent
   * if there are none.
   */
  readonly others?: ReadonlyMap<string, RealServer>;
}

/** The real server of an entry, with the settings of plans. */
export function plannedServer(list: AddressPorts, index: number): RealServer {
  return {
    address: list.addressAt(index),
    port: list.portAt(index),
    weight: 1,
    forwarding: 'masquerade',
    upperThreshold: 0,
    lowerThreshold: 0,
  };
}

/** Whether a real server has the settings of plans. */
function isPlanned({ weight, forwarding, upperThreshold, lowerThreshold }: RealServer): boolean {
  return weight === 1 && forwarding === 'masquerade' && upperThreshold === 0 && lowerThreshold === 0;
}

/** Whether two real servers have the same settings. The encapsulation is not compared: masquerading has none. */
export function equalRealServers(a: RealServer, b: RealServer): boolean {
  return (
    a.weight === b.weight &&
    a.forwarding === b.forwarding &&
    a.upperThreshold === b.upperThreshold &&
    a.lowerThreshold === b.lowerThreshold
  );
}

/** `10.0.0.1:80`. */
export function serverId({ address, port }: RealServerId): string {
  return joinHostPort(address, port);
}

/** Whether a list has a real server, which may be of the other family. */
export function includes(list: AddressPorts | undefined, { address, port }: RealServerId): boolean {
  if (list === undefined || list.size === 0) return false;
  const builder = new AddressPortsBuilder(list.family);
  return builder.add(address, port) && list.indexOf(builder.build(), 0) >= 0;
}

/** The real server of a virtual service with this address and port, if it has one. */
export function serverOf({ realServers, others }: RealServers, id: RealServerId): RealServer | undefined {
  const other = others?.get(serverId(id));
  if (other) return other;
  if (!includes(realServers, id)) return undefined;
  const { address, port } = id;
  return { address, port, weight: 1, forwarding: 'masquerade', upperThreshold: 0, lowerThreshold: 0 };
}

/** These real servers of a virtual service of a family, in any order. Copies single fields: a listing may have more. */
export function realServersOf(family: Family, servers: readonly RealServer[]): RealServers {
  const builder = new AddressPortsBuilder(family);
  let others: Map<string, RealServer> | undefined;
  for (const server of servers) {
    // With tunnels, a real server may be of the other family: then builder.add() returns false.
    if (isPlanned(server) && builder.add(server.address, server.port)) continue;
    const { address, port, weight, forwarding, upperThreshold, lowerThreshold } = server;
    others ??= new Map();
    others.set(serverId(server), { address, port, weight, forwarding, upperThreshold, lowerThreshold });
  }
  return withOthers({ realServers: builder.build() }, others);
}

/** The value with these real servers as its only others. */
export function withOthers<Value extends RealServers>(
  value: Value,
  others: ReadonlyMap<string, RealServer> | undefined,
): Value {
  if (others && others.size > 0) return { ...value, others };
  if (value.others === undefined) return value;
  const { others: _, ...rest } = value;
  return rest as Value;
}

/** The real servers of one virtual service that another one does not have, whatever their settings. */
export function without(some: RealServers, others: RealServers): RealServers {
  const realServers = some.realServers
    .without(others.realServers)
    .without(entriesOf(others, some.realServers.family));
  const rest = [...(some.others ?? [])].filter(([, server]) => serverOf(others, server) === undefined);
  return withOthers({ realServers }, new Map(rest));
}

/** Addresses and ports of the others, as far as they are of the family. */
function entriesOf({ others }: RealServers, family: Family): AddressPorts {
  if (!others) return AddressPorts.none(family);
  const builder = new AddressPortsBuilder(family);
  for (const { address, port } of others.values())
    if (familyOf(address) === family) builder.add(address, port);
  return builder.build();
}

/** A value with more real servers, of which it has none yet. */
export function joined<Value extends RealServers>(value: Value, more: RealServers): Value {
  const realServers = value.realServers.with(more.realServers);
  const others = more.others ? new Map([...more.others, ...(value.others ?? [])]) : value.others;
  return withOthers({ ...value, realServers }, others);
}
