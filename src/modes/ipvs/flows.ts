// UDP flows of Service ports whose frontends or endpoints have changed: looked for once after each change, and deleted when
// they lead to an endpoint that no longer serves.
import { isDeepStrictEqual } from 'node:util';
import type { Flow } from '../../kernel/conntrack/types.js';
import { joinHostPort } from '../../net/address.js';
import type { PortFrontends, ServiceFrontends } from '../../services/types.js';
import type { Desired, Pass } from '../mode.js';
import type { Item } from './items.js';
import type { IpvsKernel } from './kernel.js';
import type { Operation } from './operations.js';
import { type SetRole, setOf } from './sets.js';
import { selectFlows, staleFlows } from './staleFlows.js';

/** Milliseconds after which flows that were deleted are looked for once more: one may have begun meanwhile. */
export const FLOW_LOOK = 1000;

/** Flows that come back as often as they are deleted are somebody's intention. */
const MOST_LOOKS = 3;

/** Sets whose entries are the addresses and ports that clients of Services dial, node ports apart. */
const FRONTEND_SETS: readonly SetRole[] = [
  'KUBE-CLUSTER-IP',
  'KUBE-EXTERNAL-IP',
  'KUBE-EXTERNAL-IP-LOCAL',
  'KUBE-LOAD-BALANCER',
];

/** What a port's flows depend on. */
type Facts = Pick<PortFrontends, 'frontends'> & { readonly serving: readonly string[] };

/** The UDP ports of each Service as they were planned last, and the ports whose flows are still to be looked at. */
export class ChangedFlows {
  /** Service → port → its facts. */
  readonly #planned = new Map<string, ReadonlyMap<string, Facts>>();
  /** By Service and port. */
  readonly #pending = new Map<string, { readonly port: PortFrontends; looks: number }>();

  /** Whether any port's flows are still to be looked at. */
  get any(): boolean {
    return this.#pending.size > 0;
  }

  /** Takes in what a Service means now; undefined when it was deleted. */
  planned(service: string, frontends: ServiceFrontends | undefined): void {
    const former = this.#planned.get(service);
    const facts = new Map<string, Facts>();
    for (const port of frontends?.ports ?? []) {
      if (port.protocol !== 'udp') continue;
      const name = `${port.family} ${port.portName}`;
      const now = factsOf(port);
      facts.set(name, now);
      if (!isDeepStrictEqual(former?.get(name), now))
        this.#pending.set(`${service} ${name}`, { port, looks: 0 });
    }
    if (facts.size > 0) this.#planned.set(service, facts);
    else this.#planned.delete(service);
    for (const name of former?.keys() ?? []) if (!facts.has(name)) this.#pending.delete(`${service} ${name}`);
  }

  /** Deletions of flows that lead nowhere. Ports stay pending until a look finds nothing to delete. */
  async due(conntrack: IpvsKernel['conntrack'], { desired }: Pass<Item>): Promise<Operation[]> {
    if (!this.any) return [];
    const ports = [...this.#pending.values()].map(({ port }) => port);
    const selections = selectFlows(ports);
    const flows = selections.length === 0 ? [] : await conntrack.list(selections, { partial: true });
    const stale = staleFlows(flows, ports, isFrontendIn(desired));
    for (const [key, pending] of this.#pending) {
      if (stale.length === 0 || ++pending.looks === MOST_LOOKS) this.#pending.delete(key);
    }
    return stale.map(deletion);
  }
}

function factsOf({ frontends, endpoints }: PortFrontends): Facts {
  const serving = endpoints
    .filter((endpoint) => endpoint.serving)
    .map((endpoint) => joinHostPort(endpoint.address, endpoint.port));
  return { frontends, serving };
}

function deletion(flow: Flow): Operation {
  const { source, sourcePort, destination, destinationPort } = flow.original;
  const key = `flow udp ${joinHostPort(source, sourcePort)} ${joinHostPort(destination, destinationPort)}`;
  return { key, phase: 'deleteFlows', call: { on: 'conntrack', flow }, becomes: undefined };
}

function isFrontendIn(desired: Desired<Item>): (addressAndPort: string) => boolean {
  return (addressAndPort) => {
    const colon = addressAndPort.lastIndexOf(':');
    const address = addressAndPort.slice(0, colon).replace(/^\[|\]$/g, '');
    const entry = `${address},udp:${addressAndPort.slice(colon + 1)}`;
    const family = address.includes(':') ? 6 : 4;
    return FRONTEND_SETS.some(
      (role) => desired.get(`entry ${setOf(role, family).name} ${entry}`) !== undefined,
    );
  };
}
