// The connections of conntrack to the frontends of a mode whose rules do not count.
import type { Conntrack, Flow, FlowSelection } from '../../../kernel/conntrack/types.js';
import { joinHostPort } from '../../../kernel/net/address.js';
import type { Connections, FrontendId, ProgrammedFrontend } from '../inventory.js';

/** Number of frontends from which all translated flows are listed at once. */
const ALL = 16;

/**
 * Frontends with their connections, and those of each endpoint. Rejects with the NetlinkError of the listing.
 *
 * @param frontends all of them, or those that are shown
 */
export async function withConnections(
  conntrack: Pick<Conntrack, 'list'>,
  frontends: readonly ProgrammedFrontend[],
): Promise<ProgrammedFrontend[]> {
  const counted = new Map(frontends.map((frontend) => [idOf(frontend), new Map<string, Counted>()]));
  for await (const flow of conntrack.list(selectionOf(frontends))) {
    const { family, protocol, original } = flow;
    const to = { family, protocol, port: original.destinationPort };
    const found = counted.get(idOf({ ...to, address: original.destination })) ?? counted.get(idOf(to));
    if (found) count(found, flow);
  }
  return frontends.map((frontend) => {
    const flows = counted.get(idOf(frontend)) ?? new Map<string, Counted>();
    const ofEndpoint = (name: string): Connections => flows.get(name) ?? NONE;
    return {
      ...frontend,
      connections: [...flows.values()].reduce(sum, NONE),
      endpoints: frontend.endpoints.map((endpoint) => ({
        ...endpoint,
        connections: ofEndpoint(joinHostPort(endpoint.address, endpoint.port)),
      })),
    };
  });
}

interface Counted {
  active: number;
  inactive: number;
}

const NONE: Connections = { active: 0, inactive: 0 };

function sum(a: Connections, b: Connections): Connections {
  return { active: a.active + b.active, inactive: a.inactive + b.inactive };
}

/** Adds a flow to the numbers of its endpoint. A TCP connection is active while it is established, as in IPVS. */
function count(found: Map<string, Counted>, { reply, tcpState }: Flow): void {
  const endpoint = joinHostPort(reply.source, reply.sourcePort);
  const numbers = found.get(endpoint) ?? { active: 0, inactive: 0 };
  found.set(endpoint, numbers);
  if (tcpState === undefined || tcpState === 'ESTABLISHED') numbers.active++;
  else numbers.inactive++;
}

/** The flows whose destination was translated: of few frontends, only theirs. */
function selectionOf(frontends: readonly ProgrammedFrontend[]): FlowSelection | FlowSelection[] {
  const translated = { status: ['DST_NAT'] } as const;
  if (frontends.length === 0 || frontends.length > ALL) return translated;
  return frontends.map(({ family, address, port, protocol }) => ({
    ...{ ...translated, family, protocol: protocol as 'tcp' },
    original: { destinationPort: port, ...(address !== undefined && { destination: address }) },
  }));
}

function idOf({
  family,
  address = '',
  port,
  protocol,
}: Omit<FrontendId, 'protocol'> & { readonly protocol: unknown }): string {
  return `${family} ${address} ${port}/${protocol}`;
}
