// Deletes stale UDP flows after changes of a Service's UDP ports. The same in every mode.
import { AddressPorts } from '../net/addressPorts.js';
import { STATE } from '../services/endpointList.js';
import type { ServicePlanInput, ServicePort } from '../services/types.js';
import {
  type CheckedFlows,
  deleteFlows,
  FLOW_CHECK,
  type FlowResult,
  listFlows,
  MOST_CHECKS,
  NOTHING,
} from './flowChecks.js';
import { type FlowPort, type IsFrontend, selectFlows, staleFlows } from './staleFlows.js';

/** The state of a port on which its flows depend. */
type PortState = Pick<ServicePort, 'family' | 'frontends'> & { readonly serving: AddressPorts };

/** A port whose flows are to be checked. */
interface PendingPort {
  readonly service: string;
  readonly port: FlowPort;
  /** Number of checks since the kernel has the items of the Service. */
  checks: number;
  /** The kernel does not have all items of the Service: the pass that programs them checks again. */
  waits: boolean;
}

/** Records the UDP ports of each Service, and checks the flows of those that have changed or were removed. */
export class StaleFlowCleaner {
  readonly #conntrack: CheckedFlows;
  readonly #isFrontend: IsFrontend;
  /** Service → port → its state. */
  readonly #planned = new Map<string, ReadonlyMap<string, PortState>>();
  /** By Service and port. */
  readonly #pending = new Map<string, PendingPort>();

  /**
   * @param isFrontend whether an address and port is a cluster, external or load-balancer IP with a UDP port of a Service
   */
  constructor(conntrack: CheckedFlows, isFrontend: IsFrontend) {
    this.#conntrack = conntrack;
    this.#isFrontend = isFrontend;
  }

  /** Time until the next check is due without a change, in ms; undefined if no port is pending that the kernel has. */
  get dueIn(): number | undefined {
    for (const { waits } of this.#pending.values()) if (!waits) return FLOW_CHECK;
    return undefined;
  }

  /** Records the input of a Service's plan; undefined if the Service was deleted. */
  planned(service: string, input: ServicePlanInput | undefined): void {
    const former = this.#planned.get(service);
    const ports = input?.ports.filter(({ protocol }) => protocol === 'udp') ?? [];
    // Most Services have no UDP port.
    if (ports.length === 0 && !former) return;
    const states = new Map<string, PortState>();
    for (const port of ports) {
      const name = `${port.family} ${port.portName}`;
      const state = stateOf(port);
      states.set(name, state);
      if (!isSameState(former?.get(name), state)) this.#check(service, name, port);
    }
    if (states.size > 0) this.#planned.set(service, states);
    else this.#planned.delete(service);
    for (const [name, state] of former ?? [])
      if (!states.has(name)) this.#check(service, name, removed(state));
  }

  #check(service: string, name: string, port: FlowPort): void {
    this.#pending.set(`${service} ${name}`, { service, port, checks: 0, waits: false });
  }

  /**
   * Deletes the stale flows of all pending ports. A port stays pending until the kernel has the items of its Service and a check
   * finds no stale flow.
   *
   * @param unfinished Services of which the kernel refused an item
   */
  async run(unfinished: Pick<ReadonlySet<string>, 'has'> = new Set()): Promise<FlowResult> {
    if (this.#pending.size === 0) return NOTHING;
    // First: if the flows cannot be listed, the ports that do not wait are due again.
    for (const pending of this.#pending.values()) pending.waits = unfinished.has(pending.service);
    const ports = [...this.#pending.values()].map(({ port }) => port);
    const listed = await listFlows(this.#conntrack, selectFlows(ports));
    if ('failed' in listed) return listed.failed;
    const stale = staleFlows(listed.flows, ports, this.#isFrontend);
    for (const [key, pending] of this.#pending) {
      if (pending.waits) continue;
      if (stale.length === 0 || ++pending.checks === MOST_CHECKS) this.#pending.delete(key);
    }
    return deleteFlows(this.#conntrack, stale);
  }
}

/** Compares fields, because a port may have thousands of frontends. Policies and source ranges do not matter to flows. */
function isSameState(a: PortState | undefined, b: PortState): boolean {
  if (!a?.serving.equals(b.serving) || a.frontends.length !== b.frontends.length) return false;
  return a.frontends.every(({ kind, address, port }, i) => {
    const other = b.frontends[i];
    return kind === other?.kind && address === other.address && port === other.port;
  });
}

function stateOf({ family, frontends, endpoints }: ServicePort): PortState {
  return { family, frontends, serving: endpoints.select(STATE.serving) };
}

/** A port that its Service does not have any more: no endpoint serves it. */
function removed({ family, frontends }: PortState): FlowPort {
  const none = AddressPorts.none(family);
  const endpoints = { has: () => false, select: () => none };
  return { family, protocol: 'udp', frontends, endpoints, removed: true };
}
