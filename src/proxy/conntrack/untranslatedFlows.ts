// Selects flows to frontends that began before the kernel had the rules of their Service, or while another program had deleted them. Only the
// first packet of a flow is translated: as long as the client sends, later ones go the way of the first, and get no reply. Pure.
import type { Flow, FlowSelection } from '../../kernel/conntrack/types.js';
import { MOST_SELECTIONS } from './flowChecks.js';
import type { FrontendLookup, PortFrontends } from './frontendLookup.js';

/** Flows that no reply has confirmed, and whose destination no rule has translated. IPVS translates without the second flag. */
const UNTRANSLATED = { notStatus: ['SEEN_REPLY', 'DST_NAT'] } as const satisfies Partial<FlowSelection>;

/** The flows to list: one selection for each frontend, or one for each family if they are many, or undefined: all may have such flows. */
export function selectUntranslated(ports: Iterable<PortFrontends> | undefined): readonly FlowSelection[] {
  const selections: FlowSelection[] = [];
  for (const { family, protocol, frontends } of ports ?? [])
    for (const { kind, address, port } of frontends) {
      if (selections.length === MOST_SELECTIONS) return ALL;
      const original = {
        ...(kind !== 'nodePort' && { destination: address }),
        destinationPort: port,
      };
      selections.push({ family, protocol, original, ...UNTRANSLATED });
    }
  return ports ? selections : ALL;
}

const ALL: readonly FlowSelection[] = ([4, 6] as const).map((family) => ({ family, ...UNTRANSLATED }));

/**
 * The listed flows to delete: they were sent to a frontend, and are neither translated nor answered. Of TCP, only those whose client still
 * tries to connect.
 */
export function untranslatedFlows(
  flows: Iterable<Flow>,
  lookup: Pick<FrontendLookup, 'isFrontend' | 'isNodePort' | 'servesNodePorts'>,
): Flow[] {
  return [...flows].filter(({ family, protocol, original, reply, status, tcpState }) => {
    if (protocol !== 'tcp' && protocol !== 'udp' && protocol !== 'sctp') return false;
    if (status.includes('SEEN_REPLY') || (protocol === 'tcp' && tcpState !== 'SYN_SENT')) return false;
    const { destination, destinationPort } = original;
    if (reply.source !== destination || reply.sourcePort !== destinationPort) return false;
    if (lookup.isFrontend(destination, destinationPort, protocol)) return true;
    return lookup.isNodePort(destinationPort, family, protocol) && lookup.servesNodePorts(destination);
  });
}
