// Many real servers as lists of numbers: the form in which the proxy exchanges them with a client of IPVS. It is not part of the
// library's exports.
import { type Family, familyOf, joinHostPort } from '../../net/address.js';
import { AddressPorts, AddressPortsBuilder } from '../../net/addressPorts.js';
import type { OperationResult } from '../../shared/types.js';
import type { AddressId, RealServer, RealServerId, VirtualService } from '../types.js';

/** The real servers of a virtual service. Immutable. */
export interface RealServers {
  /** Those with the common settings: weight 1, masquerading, no thresholds. Of the family of the virtual service. */
  readonly realServers: AddressPorts;
  /** Those with other settings, by `address:port`. Absent if there are none. */
  readonly others?: ReadonlyMap<string, RealServer>;
}

/** The common settings. */
export const COMMON_SETTINGS = {
  weight: 1,
  forwarding: 'masquerade',
  upperThreshold: 0,
  lowerThreshold: 0,
} as const;

/** The real server of an entry, with the common settings. */
export function commonServer(list: AddressPorts, index: number): RealServer {
  return {
    address: list.addressAt(index),
    port: list.portAt(index),
    ...COMMON_SETTINGS,
  };
}

function isCommon({ weight, forwarding, upperThreshold, lowerThreshold }: RealServer): boolean {
  return weight === 1 && forwarding === 'masquerade' && upperThreshold === 0 && lowerThreshold === 0;
}

/** `10.0.0.1:80`. */
export function serverId({ address, port }: RealServerId): string {
  return joinHostPort(address, port);
}

/** Collects the real servers of one virtual service. */
export class RealServersBuilder {
  /** Those with the common settings and of the family. */
  readonly common: AddressPortsBuilder;
  #others: Map<string, RealServer> | undefined;

  constructor(family: Family) {
    this.common = new AddressPortsBuilder(family);
  }

  /** Adds a real server. Copies single fields: a listing may have more. */
  add(server: RealServer): void {
    const { address, port, weight, forwarding, upperThreshold, lowerThreshold, encapsulation } = server;
    // With tunnels, a real server may be of the other family: then the list does not take it.
    if (isCommon(server) && this.common.add(address, port)) return;
    this.#others ??= new Map();
    this.#others.set(serverId(server), {
      ...{ address, port, weight, forwarding, upperThreshold, lowerThreshold },
      ...(encapsulation && { encapsulation }),
    });
  }

  /** The real servers. The builder must not be used afterwards. */
  build(): RealServers {
    const realServers = this.common.build();
    return this.#others ? { realServers, others: this.#others } : { realServers };
  }
}

/** These real servers of a virtual service of a family, in any order. */
export function realServersOf(family: Family, servers: readonly RealServer[]): RealServers {
  const builder = new RealServersBuilder(family);
  for (const server of servers) builder.add(server);
  return builder.build();
}

/** A change of one real server, with all its settings. */
export type RealServerChange =
  | { readonly do: 'addRealServer' | 'updateRealServer'; readonly realServer: RealServer }
  | { readonly do: 'deleteRealServer'; readonly realServer: RealServerId };

/** The changes of a virtual service and its real servers, in the order in which they are made. */
export interface ServiceChange {
  readonly service: AddressId & VirtualService;
  /** The change of the virtual service itself. */
  readonly verb: 'addService' | 'updateService' | 'deleteService' | undefined;
  /** Real servers that are added with the common settings. */
  readonly added: AddressPorts;
  /** Indexes of `added` in the order of the additions; undefined: the order of the list. */
  readonly order: readonly number[] | undefined;
  /** Real servers that are deleted. */
  readonly deleted: AddressPorts;
  /** Changes of real servers that have, or get, other settings. */
  readonly others: readonly RealServerChange[];
}

/** A change that changes nothing. */
export function noChange(service: ServiceChange['service']): ServiceChange {
  const none = AddressPorts.none(familyOf(service.address));
  return { service, verb: undefined, added: none, order: undefined, deleted: none, others: [] };
}

/** Number of operations that a change makes. */
export function changeSize({ verb, added, deleted, others }: ServiceChange): number {
  return (verb === undefined ? 0 : 1) + added.size + deleted.size + others.length;
}

/** One of the operations of a change. */
export type ChangeOperation =
  | {
      readonly do: 'addService' | 'updateService' | 'deleteService';
      readonly service: ServiceChange['service'];
    }
  | (RealServerChange & { readonly service: ServiceChange['service'] });

/** An operation of a change, by its number from 0. */
export function changeOperation(change: ServiceChange, number: number): ChangeOperation {
  const { service, verb, added, order, deleted, others } = change;
  if (verb !== undefined && number === 0) return { do: verb, service };
  let rest = verb === undefined ? number : number - 1;
  if (rest < added.size) {
    return { do: 'addRealServer', service, realServer: commonServer(added, order?.[rest] ?? rest) };
  }
  rest -= added.size;
  if (rest < deleted.size) {
    const realServer = { address: deleted.addressAt(rest), port: deleted.portAt(rest) };
    return { do: 'deleteRealServer', service, realServer };
  }
  return { ...(others[rest - deleted.size] as RealServerChange), service };
}

/** The name of an operation of a change, by its number from 0. */
export function changeName(change: ServiceChange, number: number): ChangeOperation['do'] {
  const { verb, added, deleted, others } = change;
  if (verb !== undefined && number === 0) return verb;
  const rest = verb === undefined ? number : number - 1;
  if (rest < added.size) return 'addRealServer';
  return others[rest - added.size - deleted.size]?.do ?? 'deleteRealServer';
}

/** Whether a change deletes a real server and adds it again, the addition being the operation with this number: both are for one batch. */
export function isAddedAgain(change: ServiceChange, number: number): boolean {
  const index = number - (changeSize(change) - change.others.length);
  return change.others[index]?.do === 'addRealServer' && change.others[index - 1]?.do === 'deleteRealServer';
}

/** Whether a change deletes real servers and adds them again. */
export function addsAgain({ others }: ServiceChange): boolean {
  return others.some(
    (change, i) => change.do === 'addRealServer' && others[i - 1]?.do === 'deleteRealServer',
  );
}

/** Some operations of a change: those with the numbers from `from` to `to` - 1. */
export interface ChangePart {
  readonly change: ServiceChange;
  readonly from: number;
  readonly to: number;
}

/** Lists of real servers instead of an object for each. */
export interface ServerLists {
  /** The real servers of each of these virtual services; none for one that does not exist. */
  listServers(ids: readonly AddressId[]): Promise<RealServers[]>;
  /** Makes changes as one batch. Resolves to one result for each operation, as `apply()` does. */
  applyChanges(parts: readonly ChangePart[]): Promise<OperationResult[]>;
}

/** The operations of a part. */
export function operationsOf({ change, from, to }: ChangePart): ChangeOperation[] {
  return Array.from({ length: to - from }, (_, i) => changeOperation(change, from + i));
}
