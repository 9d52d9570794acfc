// Counters of links ↔ messages. Numbers: include/uapi/linux/if_link.h (struct if_stats_msg, IFLA_STATS_).
import type { LinkNames } from '../fields.js';
import { type Message, MessageWriter } from '../message.js';
import { NLM_F, RTM } from '../numbers.js';
import type { LinkCounters, LinkStatistics } from './statisticsTypes.js';

const HEADER_SIZE = 12;
const IFLA_STATS_LINK_64 = 1;
/** IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64) */
const FILTER = 1;

/** In the order of struct rtnl_link_stats64. */
const COUNTERS: readonly (keyof LinkCounters)[] = [
  ...(['rxPackets', 'txPackets', 'rxBytes', 'txBytes', 'rxErrors', 'txErrors'] as const),
  ...(['rxDropped', 'txDropped', 'multicast', 'collisions'] as const),
  ...(['rxLengthErrors', 'rxOverErrors', 'rxCrcErrors', 'rxFrameErrors'] as const),
  ...(['rxFifoErrors', 'rxMissedErrors', 'txAbortedErrors', 'txCarrierErrors'] as const),
  ...(['txFifoErrors', 'txHeartbeatErrors', 'txWindowErrors', 'rxCompressed'] as const),
  ...(['txCompressed', 'rxNoHandler', 'rxOtherHostDropped'] as const),
];
/** Counters that every kernel has since 4.7, which has these messages. */
const LEAST = COUNTERS.length - 1;

/** The message that reads the counters of the link with this index; of every link without. */
export function encodeLinkStatistics(index = 0): MessageWriter {
  const flags = index === 0 ? NLM_F.dump : NLM_F.acknowledge;
  return new MessageWriter(RTM.getStatistics, flags).u32(0).u32(index).u32(FILTER);
}

/** Reads the counters of a link. Undefined if it is not among `links`. */
export function readLinkStatistics(message: Message, links: LinkNames): LinkStatistics | undefined {
  const index = message.u32(4);
  const link = links.get(index);
  if (link === undefined) return undefined;
  for (const attributes = message.attributes(HEADER_SIZE); attributes.next(); ) {
    if (attributes.type !== IFLA_STATS_LINK_64) continue;
    const counters: [string, bigint][] = [];
    for (const [place, name] of COUNTERS.entries()) {
      // Kernels add counters at the end.
      if (place >= LEAST && attributes.length < 8 * (place + 1)) break;
      counters.push([name, attributes.u64(8 * place)]);
    }
    return { link, index, ...(Object.fromEntries(counters) as unknown as LinkCounters) };
  }
  throw message.malformed('statistics', 'no counters of the link');
}

/** Counters of a link that has received and sent nothing. */
export const NO_COUNTERS = Object.freeze(
  Object.fromEntries(COUNTERS.map((name) => [name, 0n])),
) as unknown as LinkCounters;
