// Differences and unions of the real servers of virtual services. Pure.

import type { Encapsulation, RealServer, RealServerId } from '../../../../kernel/ipvs/types.js';
import { commonServer, type RealServers, serverId } from '../../../../kernel/ipvs/values/serverLists.js';
import { type Family, familyOf } from '../../../../kernel/net/address.js';
import { AddressPorts, AddressPortsBuilder } from '../../../../kernel/net/addressPorts.js';

/** Whether two real servers have the same settings. */
export function equalRealServers(a: RealServer, b: RealServer): boolean {
  return (
    a.weight === b.weight &&
    a.forwarding === b.forwarding &&
    equalEncapsulations(a.encapsulation, b.encapsulation) &&
    a.upperThreshold === b.upperThreshold &&
    a.lowerThreshold === b.lowerThreshold
  );
}

/** Absent with masquerading, and where the kernel's default is meant: IP in IP. */
function equalEncapsulations(a: Encapsulation = IPIP, b: Encapsulation = IPIP): boolean {
  if (a.type !== b.type) return false;
  const textOf = (value: Encapsulation) => JSON.stringify(Object.entries(value).sort());
  return a === b || textOf(a) === textOf(b);
}

const IPIP: Encapsulation = { type: 'ipip' };

/** Whether a list has a real server, which may be of the other family. */
export function includes(list: AddressPorts | undefined, id: RealServerId): boolean {
  return list !== undefined && indexIn(list, id) >= 0;
}

function indexIn(list: AddressPorts, { address, port }: RealServerId): number {
  const builder = new AddressPortsBuilder(list.family);
  return builder.add(address, port) ? list.indexOf(builder.build(), 0) : -1;
}

/** The real server of a virtual service with this address and port, if it has one. */
export function serverOf({ realServers, others }: RealServers, id: RealServerId): RealServer | undefined {
  const other = others?.get(serverId(id));
  if (other) return other;
  const index = indexIn(realServers, id);
  return index < 0 ? undefined : commonServer(realServers, index);
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
