// Deletes stale UDP flows after changes of a Service's UDP ports. The same in every mode.
import { NetlinkError } from '../errors.js';
import type { Conntrack, Flow } from '../kernel/conntrack/types.js';
import { joinHostPort } from '../net/address.js';
import { AddressPorts } from '../net/addressPorts.js';
import { STATE } from '../services/endpointList.js';
import type { ServicePlanInput, ServicePort } from '../services/types.js';
import { type FlowPort, type IsFrontend, selectFlows, staleFlows } from './staleFlows.js';

/** Time from a deletion to the next check, in ms: a new stale flow may have been created meanwhile. */
const FLOW_CHECK = 1000;

/** Maximum number of checks after one change: flows that still reappear are created deliberately. */
const MOST_CHECKS = 3;

/** The result of a check. */
export interface FlowResult {
  /** Attempted deletions; their keys are `flow udp 10.244.1.2:4000 10.96.0.10:53`. */
  readonly operations: readonly { readonly key: string; readonly phase: string }[];
  /** Failed deletions; the key is `flows` if flows could not be listed. */
  readonly failures: readonly { readonly key: string; readonly error: NetlinkError; readonly vital: false }[];
}

const NOTHING: FlowResult = { operations: [], failures: [] };

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
  readonly #conntrack: Pick<Conntrack, 'list' | 'deleteFlows'>;
  readonly #isFrontend: IsFrontend;
  /** Service → port → its state. */
  readonly #planned = new Map<string, ReadonlyMap<string, PortState>>();
  /** By Service and port. */
  readonly #pending = new Map<string, PendingPort>();

  /**
   * @param isFrontend whether an address and port is a cluster, external or load-balancer IP with a UDP port of a Service
   */
  constructor(conntrack: Pick<Conntrack, 'list' | 'deleteFlows'>, isFrontend: IsFrontend) {
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
    const selections = selectFlows(ports);
    let flows: readonly Flow[] = [];
    try {
      if (selections.length > 0) flows = await this.#conntrack.list(selections, { partial: true }).toArray();
    } catch (error) {
      if (!(error instanceof NetlinkError)) throw error;
      return { operations: [], failures: [{ key: 'flows', error, vital: false }] };
    }
    const stale = staleFlows(flows, ports, this.#isFrontend);
    for (const [key, pending] of this.#pending) {
      if (pending.waits) continue;
      if (stale.length === 0 || ++pending.checks === MOST_CHECKS) this.#pending.delete(key);
    }
    return this.#delete(stale);
  }

  async #delete(flows: readonly Flow[]): Promise<FlowResult> {
    if (flows.length === 0) return NOTHING;
    const operations = flows.map((flow) => ({ key: keyOf(flow), phase: 'deleteFlows' }));
    const results = await this.#results(flows);
    const failures = operations.flatMap(({ key }, i) => {
      const error = results[i];
      return error ? [{ key, error, vital: false as const }] : [];
    });
    return { operations, failures };
  }

  /** One result for each flow. If the call fails, all have its error. */
  async #results(flows: readonly Flow[]): Promise<(NetlinkError | undefined)[]> {
    try {
      return await this.#conntrack.deleteFlows(flows);
    } catch (error) {
      if (!(error instanceof NetlinkError)) throw error;
      return flows.map(() => error);
    }
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

function keyOf({ original }: Flow): string {
  const { source, sourcePort, destination, destinationPort } = original;
  return `flow udp ${joinHostPort(source, sourcePort)} ${joinHostPort(destination, destinationPort)}`;
}
