// Plays histories on a real proxy: stores their objects, makes their faults, and records what the clients see.
import { setTimeout as delay } from 'node:timers/promises';
import type { Lab } from '../../laboratory/lab.js';
import { NamespaceProcess } from '../../laboratory/namespaceProcess.js';
import { PATIENCE } from '../../laboratory/patience.js';
import { CLIENT, NODE_A, SHELL } from '../../laboratory/places.js';
import { type ClusterState, EMPTY_CLUSTER, stateAfter } from '../core/cluster.js';
import { affinityGroupOf, quietFor, type Target, targetKey, targetsOf } from '../core/frontends.js';
import type { Event, History } from '../core/history.js';
import { objectsOf } from '../core/objects.js';
import {
  type Change,
  type FaultPeriod,
  type Observation,
  type Recording,
  type Wait,
  withDeath,
} from '../core/observations.js';
import type { Bounds } from '../core/rules.js';
import { RunTime } from '../core/runTime.js';
import { addressIn, CLIENT_ADDRESSES, type ClientName, ENDPOINT_PORT } from '../core/world.js';
import { monotonic } from './clock.js';
import type { EndpointOrders } from './endpoint.js';
import { Faults } from './faults.js';
import { ENDPOINT_PLACES, openNetwork, SERVER_ADDRESS } from './network.js';
import { JudgedProxy, type ProxyOrders } from './proxy.js';
import { sampleOf } from './sample.js';
import { JudgeServer } from './server.js';
import { type DialledTarget, Traffic, type TrafficTimes } from './traffic.js';
import { damage } from './vandalism.js';
import { WaitMeter } from './waitMeter.js';

/** A run with a proxy. */
export interface RunOrders extends Pick<ProxyOrders, 'command' | 'mode' | 'folder' | 'syncPeriod'> {
  readonly bounds: Bounds;
  readonly traffic: TrafficTimes;
  /** Time for which traffic goes on after the last event of a history, in ms. */
  readonly quiet: number;
}

const ENDPOINT = new URL('./endpoint.js', import.meta.url).pathname;

/** The Service that shows that a proxy has started. */
const FIRST: readonly Event[] = [
  {
    do: 'setService',
    service: 'first',
    spec: {
      ...{ number: 60, families: [4], protocols: ['TCP'], nodePort: false, externalIP: false },
      ...{
        loadBalancer: false,
        internalPolicy: 'Cluster',
        externalPolicy: 'Cluster',
        affinity: 0,
        ranges: false,
      },
    },
  },
  { do: 'setEndpoints', service: 'first', endpoints: [{ pod: 'pod-0', condition: 'ready' }] },
];

/** A network with a proxy, in which histories are played one after the other. */
export class Player {
  readonly #orders: RunOrders;
  readonly #lab: Lab;
  readonly #server: JudgeServer;
  readonly #proxy: JudgedProxy;
  readonly #closes: (() => Promise<void>)[] = [];
  readonly #traffic = new Map<ClientName, Traffic>();
  #state: ClusterState = EMPTY_CLUSTER;
  /** Targets that are no longer promised, and the time until which they are dialled nevertheless. */
  readonly #former = new Map<string, { readonly target: Target; readonly until: number }>();
  #late = 0;

  private constructor(orders: RunOrders, lab: Lab, server: JudgeServer) {
    this.#orders = orders;
    this.#lab = lab;
    this.#server = server;
    const namespace = lab.namespace(NODE_A);
    this.#proxy = new JudgedProxy({ ...orders, namespace, server: server.url });
  }

  /** Creates the network and starts the proxy; resolves when it serves a first Service. */
  static async open(orders: RunOrders): Promise<Player> {
    const lab = openNetwork();
    const server = await new JudgeServer(SERVER_ADDRESS).start();
    const player = new Player(orders, lab, server);
    try {
      await player.#start();
    } catch (error) {
      await player.close();
      throw error;
    }
    return player;
  }

  /** Requests that were left out because a process of the judge was late. */
  get late(): number {
    return this.#late;
  }

  /** The log of the proxy. */
  get log(): string {
    return this.#proxy.log;
  }

  /** Plays a history, and removes its objects at the end. */
  async play(history: History): Promise<Recording> {
    this.#former.clear();
    this.#server.forgetPast();
    await this.#collect();
    const began = monotonic();
    const now = () => monotonic() - began;
    const changes: Change[] = [];
    const meter = new WaitMeter(() => this.#proxy.pid, now);
    const faults = new Faults(this.#proxy, this.#server, this.#lab.namespace(NODE_A), now);
    let next = 0;
    for (const { after, event } of history.steps) {
      next += after;
      await delay(Math.max(0, next - now()));
      if (event.do === 'fault') {
        faults.begin(event.fault, event.lasts);
      } else {
        changes.push({ at: now(), event });
        await this.#store(event);
      }
    }
    let periods = await faults.ended();
    do {
      if (!this.#proxy.runs) periods = this.#startAgain(periods, now());
      await delay(recoveryLeft(periods, this.#orders.bounds, meter.waits, now()));
    } while (!this.#proxy.runs);
    const quiet = quietFor(this.#state, this.#orders.quiet);
    await delay(quiet + recoveryLeft(periods, this.#orders.bounds, meter.waits, now()));
    const ended = now();
    const waits = meter.end();
    const observations = await this.#collect(began);
    await this.#clear();
    const after = sampleOf(this.#proxy.pid, monotonic());
    return { history, changes, faults: periods, observations, waits, ended, ...(after ? { after } : {}) };
  }

  /** Starts the proxy that ended by itself, if a fault of the history may end it later than the fault ends. */
  #startAgain(periods: readonly FaultPeriod[], now: number): FaultPeriod[] {
    const found = withDeath(periods, now);
    if (!found) throw new Error(`the proxy ended by itself; see ${this.log}`);
    this.#proxy.start();
    return found;
  }

  /** Ends all processes and removes the network. */
  async close(): Promise<void> {
    await this.#proxy.end('SIGKILL');
    for (const close of this.#closes) await close();
    await this.#server.close();
    this.#lab.close();
  }

  async #start(): Promise<void> {
    for (const place of ENDPOINT_PLACES) {
      const endpoint = await NamespaceProcess.open<EndpointOrders, boolean>(
        this.#lab.namespace(place),
        ENDPOINT,
      );
      this.#closes.push(() => endpoint.close());
      await endpoint.ask({ name: place.name, port: ENDPOINT_PORT, sctp: this.#orders.bounds.sctp === true });
    }
    const places = [
      { place: SHELL, clients: ['pod'] },
      { place: NODE_A, clients: ['node'] },
      { place: CLIENT, clients: ['outside', 'stranger'] },
    ] as const;
    let first = 0;
    for (const { place, clients } of places) {
      const traffic = await Traffic.open(this.#lab.namespace(place), this.#orders.traffic, first);
      this.#closes.push(() => traffic.close());
      for (const client of clients) this.#traffic.set(client, traffic);
      first += 1_000_000_000;
    }
    this.#server.hold(objectsOf(EMPTY_CLUSTER));
    this.#proxy.start();
    await this.#untilItServes();
    await this.#clear();
  }

  async #untilItServes(): Promise<void> {
    for (const event of FIRST) await this.#store(event);
    const deadline = monotonic() + PATIENCE;
    for (;;) {
      const seen = await this.#collect();
      if (seen.some(({ result }) => result === 'answered')) return;
      if (!this.#proxy.runs) throw new Error(`the proxy ended before it served a Service; see ${this.log}`);
      if (monotonic() > deadline)
        throw new Error(`no Service answered within ${PATIENCE} ms; see ${this.log}`);
      await delay(100);
    }
  }

  /** Deletes all objects of a history, and waits until they can have left the kernel. */
  async #clear(): Promise<void> {
    this.#state = EMPTY_CLUSTER;
    this.#former.clear();
    this.#server.hold(objectsOf(this.#state));
    await this.#dial();
    await delay(this.#orders.bounds.programming);
    // Also node ports whose record was destroyed.
    if (this.#orders.bounds.ipvs) damage(this.#lab.namespace(NODE_A), 'ipvs', 'virtualServicesDeleted');
    await this.#collect();
  }

  async #store(event: Event): Promise<void> {
    const before = this.#state;
    this.#state = stateAfter(before, event);
    if (this.#state === before) return;
    this.#server.hold(objectsOf(this.#state));
    const until = monotonic() + 2 * this.#orders.bounds.programming;
    for (const target of targetsOf(before, this.#orders.bounds))
      this.#former.set(targetKey(target), { target, until });
    await this.#dial();
  }

  /** Tells the clients what to dial. */
  async #dial(): Promise<void> {
    const now = monotonic();
    const all = new Map(
      targetsOf(this.#state, this.#orders.bounds).map((target) => [targetKey(target), target]),
    );
    for (const [key, { target, until }] of this.#former) {
      if (until > now && !all.has(key)) all.set(key, target);
    }
    const processes = [...new Set(this.#traffic.values())];
    await Promise.all(
      processes.map((traffic) => {
        const own = [...all.values()].filter(({ client }) => this.#traffic.get(client) === traffic);
        return traffic.dial(own.map((target) => dialled(this.#state, target)));
      }),
    );
  }

  /** What the clients saw since the last call, with times since `began`. */
  async #collect(began = 0): Promise<Observation[]> {
    const processes = [...new Set(this.#traffic.values())];
    const reports = await Promise.all(processes.map((traffic) => traffic.collect()));
    for (const { late } of reports) this.#late += late;
    return reports
      .flatMap(({ observations }) => observations)
      .map((one) => ({ ...one, began: one.began - began, ended: one.ended - began }))
      .toSorted((a, b) => a.ended - b.ended);
  }
}

function dialled(state: ClusterState, target: Target): DialledTarget {
  const asked = { target, group: affinityGroupOf(state, target) };
  // The host outside has two addresses, and SCTP sends from all that it is not forbidden.
  if (target.client !== 'stranger' && target.client !== 'outside') return asked;
  return { ...asked, from: addressIn(CLIENT_ADDRESSES[target.client], target.family) };
}

/** The time until the last fault has been recovered from. */
function recoveryLeft(
  faults: readonly FaultPeriod[],
  { recovery }: Bounds,
  waits: readonly Wait[],
  now: number,
): number {
  const runTime = new RunTime(waits);
  return faults.reduce((left, { ended }) => Math.max(left, runTime.after(ended, recovery) - now), 0);
}
