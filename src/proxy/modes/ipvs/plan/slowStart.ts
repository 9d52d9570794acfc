// The slow start of real servers: a new one has a part of its weight, which grows in steps. Pure. The weights in the kernel are the
// record, so that a slow start continues after a restart of the agent.
import type { RealServer } from '../../../../kernel/ipvs/types.js';
import {
  commonServer,
  type RealServerChange,
  RealServersBuilder,
  serverId,
} from '../../../../kernel/ipvs/values/serverLists.js';
import type { VirtualServiceItem } from './items.js';
import { serverOf } from './realServers.js';

/** Steps of a slow start. Planned weights are this many times those of the endpoints, so that each part is an integer. */
export const SLOW_START_STEPS = 10;

/** A virtual service with a slow start as it is to be now, after its state in the kernel. */
export function startingSlowly(
  want: VirtualServiceItem,
  have: VirtualServiceItem | undefined,
): VirtualServiceItem {
  if (want.slowStart === undefined || !want.others || !have || !hasEstablished(want, have)) return want;
  const changed = new Map<string, RealServer>();
  for (const [id, server] of want.others) {
    const weight = weightAfter(server, serverOf(have, server));
    if (weight !== server.weight) changed.set(id, { ...server, weight });
  }
  return changed.size === 0 ? want : withServers(want, changed);
}

/** The changes of one step: each real server that is starting gets the next part of its weight. */
export function nextStep(want: VirtualServiceItem, have: VirtualServiceItem): RealServerChange[] {
  const changes: RealServerChange[] = [];
  const starts = hasEstablished(want, have);
  for (const server of want.others?.values() ?? []) {
    const there = serverOf(have, server);
    if (!there) continue;
    const now = starts ? weightAfter(server, there) : server.weight;
    const weight = Math.min(server.weight, now + server.weight / SLOW_START_STEPS);
    if (weight !== there.weight) changes.push({ do: 'updateRealServer', realServer: { ...server, weight } });
  }
  return changes;
}

/** A virtual service with changed real servers. */
export function withChanges(
  have: VirtualServiceItem,
  changes: readonly RealServerChange[],
): VirtualServiceItem {
  const changed = new Map<string, RealServer>();
  for (const change of changes)
    if (change.do !== 'deleteRealServer') changed.set(serverId(change.realServer), change.realServer);
  return withServers(have, changed);
}

/** A virtual service with other settings of real servers that it has. Those with the common settings are in the list of these. */
function withServers(item: VirtualServiceItem, changed: ReadonlyMap<string, RealServer>): VirtualServiceItem {
  const { realServers, others, ...rest } = item;
  const builder = new RealServersBuilder(realServers.family);
  const add = (server: RealServer) => builder.add(changed.get(serverId(server)) ?? server);
  for (let index = 0; index < realServers.size; index++) add(commonServer(realServers, index));
  for (const server of others?.values() ?? []) add(server);
  return { ...rest, ...builder.build() };
}

/** Whether a real server has its whole weight. Without one, there is none that could take the connections meanwhile. */
function hasEstablished(want: VirtualServiceItem, have: VirtualServiceItem): boolean {
  for (const server of want.others?.values() ?? [])
    if (server.weight > 0 && (serverOf(have, server)?.weight ?? 0) >= server.weight) return true;
  return false;
}

/** The weight of a real server that the kernel has, or has not: a part only if it is new, or has a part already. */
function weightAfter({ weight }: RealServer, there: RealServer | undefined): number {
  const part = weight / SLOW_START_STEPS;
  if (!there || there.weight === 0) return part;
  return there.weight < weight && there.weight % part === 0 ? there.weight : weight;
}
