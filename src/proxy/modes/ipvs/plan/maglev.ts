// The real servers of virtual services with the Maglev scheduler, `mh`. Pure. The kernel fills the places of its table in turns, in the order
// of its list of real servers (ip_vs_mh_populate()): a new one is the first of the list, so that the table depends on the order in which
// they were added. It counts the last weight that was not 0, until the real server is added again (__ip_vs_update_dest()).
import type { RealServer, VirtualService } from '../../../../kernel/ipvs/types.js';
import {
  commonServer,
  type RealServerChange,
  type RealServers,
  realServersOf,
  serverId,
} from '../../../../kernel/ipvs/values/serverLists.js';
import type { Family } from '../../../../kernel/net/address.js';
import { AddressPortsBuilder } from '../../../../kernel/net/addressPorts.js';
import type { VirtualServiceItem } from './items.js';
import { equalRealServers, serverOf } from './realServers.js';

/** Whether a virtual service has the Maglev scheduler. */
export function isMaglev({ scheduler }: Pick<VirtualService, 'scheduler'>): boolean {
  return scheduler === 'mh';
}

/**
 * Whether the real servers with a weight above 0 were added in the order of all nodes. Others have no places in the table.
 *
 * @param listed all real servers in the order of the kernel's list: the last that was added first
 */
export function isInOrder(family: Family, listed: readonly RealServer[]): boolean {
  const added = listed.filter(({ weight }) => weight > 0).reverse();
  return weighted(realServersOf(family, listed)).every((server, i) => {
    const there = added[i];
    return there !== undefined && serverId(there) === serverId(server);
  });
}

/**
 * The changes after which a virtual service has the desired real servers, and those with a weight above 0 were added in the order of all
 * nodes: the ones that follow a new one are added again.
 */
export function changesInOrder(
  want: VirtualServiceItem,
  have: VirtualServiceItem | undefined,
): RealServerChange[] {
  const changes: RealServerChange[] = [];
  let isInPlace = have?.inOrder === true;
  for (const realServer of weighted(want)) {
    const there = have && serverOf(have, realServer);
    isInPlace &&= there !== undefined && there.weight > 0;
    if (isInPlace || !there) changes.push(...changesOf(realServer, there, want, have));
    else changes.push(...again(realServer));
  }
  for (const realServer of want.others?.values() ?? []) {
    if (realServer.weight === 0)
      changes.push(...changesOf(realServer, have && serverOf(have, realServer), want, have));
  }
  return changes;
}

/** The changes of one real server, whatever its place. With weight 0, it must have no places in the table: it is added again. */
export function changesOf(
  realServer: RealServer,
  there: RealServer | undefined,
  want: VirtualServiceItem,
  have: VirtualServiceItem | undefined,
): readonly RealServerChange[] {
  if (!there) return [{ do: 'addRealServer', realServer }];
  const hasPlaces = there.weight > 0 || (have !== undefined && !isMaglev(have.service));
  if (isMaglev(want.service) && realServer.weight === 0 && hasPlaces) return again(realServer);
  return equalRealServers(realServer, there) ? [] : [{ do: 'updateRealServer', realServer }];
}

/**
 * Deletes a real server and adds it. The kernel keeps a deleted one for two minutes, and takes the same one again: it has its connections
 * and counters (ip_vs_trash_get_dest()).
 */
function again(realServer: RealServer): readonly RealServerChange[] {
  return [
    { do: 'deleteRealServer', realServer },
    { do: 'addRealServer', realServer },
  ];
}

/** The real servers with a weight above 0, by address and port. Any of the other family are the last: no plan has them. */
function weighted({ realServers, others }: RealServers): RealServer[] {
  const builder = new AddressPortsBuilder(realServers.family);
  for (let index = 0; index < realServers.size; index++) builder.addFrom(realServers, index);
  const rest: RealServer[] = [];
  for (const server of others?.values() ?? []) {
    if (server.weight > 0 && !builder.add(server.address, server.port)) rest.push(server);
  }
  const list = builder.build();
  const sorted = Array.from(
    { length: list.size },
    (_, index) => others?.get(list.textAt(index)) ?? commonServer(list, index),
  );
  return [...sorted, ...rest];
}
