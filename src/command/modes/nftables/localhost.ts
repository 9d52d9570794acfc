// Node ports on localhost in nftables mode, for the agent.

import type { Family } from '../../../kernel/net/address.js';
import type { Nftables } from '../../../kernel/nftables/types.js';
import { TABLE_FAMILY } from '../../../proxy/modes/nftables/plan/containers.js';
import { protocolOfCounter } from '../../../proxy/modes/nftables/plan/localhostPorts.js';
import { TABLE } from '../../../proxy/modes/nftables/plan/names.js';
import type { Configuration } from '../../config/configuration.js';
import { behaviourOf } from '../../config/mirroredVersion.js';
import type { LocalhostNodePorts } from '../shared/definition.js';
import { localhostFamilies } from './fromConfiguration.js';

/** Longest time to read the counters of a family, in ms, as in kube-proxy. */
const READ_LIMIT = 2000;

/** What the agent does for node ports on localhost with this configuration. */
export function localhostNodePorts(
  nftables: Pick<Nftables, 'listObjects'>,
  families: readonly Family[],
  configuration: Configuration,
): LocalhostNodePorts {
  const served = localhostFamilies(configuration);
  return {
    families: families.filter((family) => served.has(family)),
    hasMetrics: behaviourOf(configuration).localhostNodePortMetrics,
    readRejected: () => readRejected(nftables, families),
  };
}

/** The packets of each counter. A table that does not exist has none. */
async function readRejected(nftables: Pick<Nftables, 'listObjects'>, families: readonly Family[]) {
  const found: { family: Family; protocol: string; packets: number }[] = [];
  for (const family of families) {
    const where = { family: TABLE_FAMILY[family], table: TABLE };
    for await (const object of nftables.listObjects(where, { signal: AbortSignal.timeout(READ_LIMIT) })) {
      const protocol = protocolOfCounter(object.name);
      if (object.type !== 'counter' || protocol === undefined) continue;
      const packets = Number(object.packets ?? 0n);
      found.push({ family, protocol: protocol.toUpperCase(), packets });
    }
  }
  return found;
}
