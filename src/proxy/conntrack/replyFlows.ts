// Selects UDP flows that began with the reply of an endpoint. IPVS drops its connection with a real server that was deleted, and the flow with it; a
// reply that is under way then begins a flow from the endpoint to the client. While it lasts (`nf_conntrack_udp_timeout`, 30 s), the kernel
// cannot confirm a flow of this client to the endpoint, and drops its packets, should the real server be added again. Pure.
import type { Flow, FlowSelection } from '../../kernel/conntrack/types.js';
import type { AddressPorts } from '../../kernel/net/addressPorts.js';
import { MOST_SELECTIONS } from './flowChecks.js';
import { isOneOf } from './staleFlows.js';

const UNTRANSLATED = {
  notStatus: ['SEEN_REPLY', 'SRC_NAT', 'DST_NAT'],
} as const satisfies Partial<FlowSelection>;

/** The flows to list: one selection for each family and target port, or one for each family if they are many. */
export function selectReplyFlows(endpoints: readonly AddressPorts[]): FlowSelection[] {
  const selections = new Map<string, FlowSelection>();
  const families = new Map<number, FlowSelection>();
  for (const list of endpoints) {
    const { family } = list;
    if (list.size > 0) families.set(family, { family, protocol: 'udp', ...UNTRANSLATED });
    for (let i = 0; i < list.size; i++) {
      const sourcePort = list.portAt(i);
      const key = `${family} ${sourcePort}`;
      if (selections.has(key)) continue;
      selections.set(key, { family, protocol: 'udp', original: { sourcePort }, ...UNTRANSLATED });
    }
  }
  return [...(selections.size > MOST_SELECTIONS ? families : selections).values()];
}

/** The listed flows to delete: an endpoint sent their only packets, which nothing translated. */
export function replyFlows(flows: readonly Flow[], endpoints: readonly AddressPorts[]): Flow[] {
  return flows.filter(({ family, protocol, original, reply, status }) => {
    if (protocol !== 'udp' || status.includes('SEEN_REPLY')) return false;
    if (reply.source !== original.destination || reply.destination !== original.source) return false;
    return isOneOf(endpoints, family, original.source, original.sourcePort);
  });
}
