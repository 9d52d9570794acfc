// Desired and known virtual service → its operations: at most one that adds, and one that removes. Pure.

import type { RealServer, SchedulerFlag, VirtualService } from '../../../../kernel/ipvs/types.js';
import {
  commonServer,
  noChange,
  type RealServerChange,
  type RealServers,
  type ServiceChange,
  serverId,
} from '../../../../kernel/ipvs/values/serverLists.js';
import { AddressPorts } from '../../../../kernel/net/addressPorts.js';
import { orderOn } from './endpointOrder.js';
import type { VirtualServiceItem } from './items.js';
import { changesInOrder, changesOf } from './maglev.js';
import { type Operation, serverOperation } from './operations.js';
import { equalRealServers, includes, joined, serverOf, withOthers, without } from './realServers.js';

/** Takes the operations that change a virtual service from known to desired. */
export function compareServer(
  take: { push(operation: Operation): void },
  key: string,
  want: VirtualServiceItem,
  have: VirtualServiceItem | undefined,
): void {
  if (have && isSameServer(want, have)) return;
  const removals = have && removalsOf(want, have);
  const additions = additionsOf(want, have);
  if (additions) {
    const becomes = removals ? joined(want, removals.leaving) : want;
    take.push(serverOperation('addServers', key, additions, becomes));
  }
  if (removals && (removals.change.deleted.size > 0 || removals.change.others.length > 0)) {
    take.push(serverOperation('deleteServers', key, removals.change, removals.becomes));
  }
}

/** Whether a known virtual service is as desired, and has no other real servers. */
export function isSameServer(want: VirtualServiceItem, have: VirtualServiceItem): boolean {
  if (have.foreign || !want.realServers.equals(have.realServers)) return false;
  if (want.inOrder && !have.inOrder) return false;
  return equalSettings(want.service, have.service) && equalOthers(want.others, have.others);
}

function equalOthers(want: VirtualServiceItem['others'], have: VirtualServiceItem['others']): boolean {
  if (want === undefined || have === undefined) return want === have;
  if (want.size !== have.size) return false;
  for (const [id, server] of want) {
    const there = have.get(id);
    if (!there || !equalRealServers(server, there)) return false;
  }
  return true;
}

/** The changes that make a virtual service have everything that is desired; undefined if it has. */
function additionsOf(
  want: VirtualServiceItem,
  have: VirtualServiceItem | undefined,
): ServiceChange | undefined {
  const others = want.inOrder ? changesInOrder(want, have) : [...changesOfOthers(want, have)];
  let added = have ? want.realServers.without(have.realServers) : want.realServers;
  if (want.inOrder) {
    added = AddressPorts.none(added.family);
  } else if (have?.others) {
    added = added.filter((index) => {
      const realServer = commonServer(added, index);
      if (!have.others?.has(serverId(realServer))) return true;
      others.push({ do: 'updateRealServer', realServer });
      return false;
    });
  }
  // A foreign virtual service that a plan needs is adopted by an update: its connections survive.
  const update = have && (have.foreign || !equalSettings(want.service, have.service));
  const verb = have ? (update ? 'updateService' : undefined) : 'addService';
  if (verb === undefined && added.size === 0 && others.length === 0) return undefined;
  const order = want.orderedFor === undefined ? undefined : orderOn(want.orderedFor, added);
  return { ...noChange(want.service), verb, added, order, others };
}

/** Desired real servers with other settings than those of plans: only kept ones. */
function* changesOfOthers(
  want: VirtualServiceItem,
  have: VirtualServiceItem | undefined,
): Generator<RealServerChange> {
  for (const realServer of want.others?.values() ?? []) {
    yield* changesOf(realServer, have && serverOf(have, realServer), want, have);
  }
}

/** The removal of real servers that are no longer desired. */
interface Removals {
  readonly change: ServiceChange;
  /** The real servers that are removed or drained, as they are now. */
  readonly leaving: RealServers;
  /** The item afterwards: the desired one, with those that are draining. */
  readonly becomes: VirtualServiceItem;
}

/** Undefined if all known real servers are desired. */
function removalsOf(want: VirtualServiceItem, have: VirtualServiceItem): Removals | undefined {
  const leaving = without(have, want);
  if (leaving.realServers.size === 0 && !leaving.others) return undefined;
  const { drainable, failed } = want;
  const left = leaving.realServers;
  const isDrained = (index: number) =>
    drainable !== undefined &&
    drainable.indexOf(left, index) >= 0 &&
    !(failed !== undefined && failed.indexOf(left, index) >= 0);
  const drained = mayDrain(want) ? left.filter(isDrained) : AddressPorts.none(left.family);
  const draining = new Map<string, RealServer>();
  const others: RealServerChange[] = [];
  const drain = (server: RealServer) => {
    const realServer = { ...server, weight: 0 };
    others.push(...changesOf(realServer, server, want, have));
    draining.set(serverId(realServer), realServer);
  };
  for (let index = 0; index < drained.size; index++) drain(commonServer(drained, index));
  for (const realServer of leaving.others?.values() ?? []) {
    const mayStay = realServer.weight === 0 || includes(drainable, realServer);
    const stays = mayDrain(want) && mayStay && !includes(failed, realServer);
    if (stays) drain(realServer);
    else others.push({ do: 'deleteRealServer', realServer });
  }
  return {
    change: { ...noChange(want.service), deleted: left.without(drained), others },
    leaving,
    becomes: withOthers(want, new Map([...(want.others ?? []), ...draining])),
  };
}

/**
 * Whether real servers that are no longer desired are drained: only with TCP, while the endpoint still exists or if
 * they are already draining. If the endpoint disappears without termination, its connections are reset instead.
 */
function mayDrain({ service }: VirtualServiceItem): boolean {
  return service.protocol === 'tcp';
}

/** The persistence engine is not compared: no plan has one. */
function equalSettings(a: VirtualService, b: VirtualService): boolean {
  return (
    a === b ||
    (a.scheduler === b.scheduler &&
      a.onePacket === b.onePacket &&
      a.persistence?.timeout === b.persistence?.timeout &&
      a.persistence?.netmask === b.persistence?.netmask &&
      equalFlags(a.schedulerFlags, b.schedulerFlags))
  );
}

/** Both are in the order of their bits. */
function equalFlags(a: readonly SchedulerFlag[], b: readonly SchedulerFlag[]): boolean {
  return a === b || (a.length === b.length && a.every((flag, i) => flag === b[i]));
}
