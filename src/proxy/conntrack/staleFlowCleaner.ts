// Deletes stale UDP flows after changes of a Service's UDP ports. The same in every mode; with connections of the mode's own, also those that
// replies began.
import { AddressPorts } from '../../kernel/net/addressPorts.js';
import { STATE } from '../services/endpointList.js';
import type { ServicePlanInput, ServicePort } from '../services/types.js';
import {
  type CheckedFlows,
  FlowChecks,
  type FlowResult,
  joined,
  UNLISTED,
  type Unfinished,
} from './flowChecks.js';
import type { FrontendLookup } from './frontendLookup.js';
import { replyFlows, selectReplyFlows } from './replyFlows.js';
import { type FlowPort, selectFlows, staleFlows } from './staleFlows.js';

/** The state of a port on which its flows depend. */
type PortState = Pick<ServicePort, 'family' | 'frontends'> & { readonly serving: AddressPorts };

/** Records the UDP ports of each Service, and checks the flows of those that have changed or were removed. */
export class StaleFlowCleaner {
  /** By Service and port. */
  readonly #checks: FlowChecks<FlowPort>;
  /** The serving endpoints of the ports whose flows are checked. */
  readonly #replies: FlowChecks<AddressPorts> | undefined;
  /** Service → port → its state. */
  readonly #planned = new Map<string, ReadonlyMap<string, PortState>>();

  /** @param ownConnections see `Upkeep.ownConnections` */
  constructor(conntrack: CheckedFlows, lookup: FrontendLookup, ownConnections: boolean) {
    this.#checks = new FlowChecks(conntrack, {
      select: selectFlows,
      choose: (flows, ports) => staleFlows(flows, ports, lookup),
    });
    if (ownConnections)
      this.#replies = new FlowChecks(conntrack, { select: selectReplyFlows, choose: replyFlows });
  }

  /** Time until the next check is due without a change, in ms; undefined if no port is pending that the kernel has. */
  get dueIn(): number | undefined {
    return this.#checks.dueIn ?? this.#replies?.dueIn;
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

  /** Has the flows of all ports checked, as if they had changed. */
  again(): void {
    for (const [service, states] of this.#planned) {
      for (const [name, state] of states) this.#check(service, name, portOf(state));
    }
  }

  #check(service: string, name: string, port: FlowPort): void {
    const key = `${service} ${name}`;
    this.#checks.add(key, service, port);
    this.#replies?.add(key, service, port.endpoints.select(STATE.serving));
  }

  /** Deletes the stale flows of all pending ports. */
  async run(unfinished?: Unfinished): Promise<FlowResult> {
    const stale = await this.#checks.run(unfinished);
    // If flows cannot be listed, one failure says so.
    if (!this.#replies || stale.failures.some(({ key }) => key === UNLISTED)) return stale;
    return joined([stale, await this.#replies.run(unfinished)]);
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

/** The port with a state. */
function portOf({ family, frontends, serving }: PortState): FlowPort {
  const endpoints = { has: () => serving.size > 0, select: () => serving };
  return { family, protocol: 'udp', frontends, endpoints };
}

/** A port that its Service does not have any more: no endpoint serves it. */
function removed({ family, frontends }: PortState): FlowPort {
  const none = AddressPorts.none(family);
  const endpoints = { has: () => false, select: () => none };
  return { family, protocol: 'udp', frontends, endpoints, removed: true };
}
