// A cluster with one Service: clients connect, nodes select endpoints, each by its own counts, and connections end. Pure.
import { seededRandom } from '../statistics.js';
import { EventQueue } from './eventQueue.js';
import { type RealServer, type Tables, VirtualService } from './schedulers.js';
import {
  type Case,
  KEPT_SECONDS,
  REPLACEMENT_SECONDS,
  type Schedule,
  type Surroundings,
  scheduleOf,
  speedOf,
  weightOf,
} from './traffic.js';

/** Loads of a simulation. */
export interface Load {
  /** Highest load of an endpoint ÷ mean of all endpoints at a moment: mean of all moments. */
  readonly atMoment: number;
  /** The same of the mean loads of each endpoint over the whole time. */
  readonly overTime: number;
}

/** Ports that clients connect from: `ip_local_port_range`. */
const PORTS = { first: 32_768, count: 28_232 } as const;

/** 10.244.0.0 and 10.200.0.0: before the first client, and before the first endpoint. */
const CLIENT_ADDRESS = 0x0af40000;
const ENDPOINT_ADDRESS = 0x0ac80000;
const ENDPOINT_PORT = 8080;

/** An endpoint, with its real server on each node. */
interface Endpoint {
  readonly speed: number;
  readonly servers: readonly RealServer[];
  /** Connections of all nodes that are open. */
  readonly connections: Set<Connection>;
}

interface Connection {
  readonly client: number;
  readonly server: RealServer;
  readonly endpoint: Endpoint;
}

/** Runs a simulation. */
export function simulate(simulated: Case, surroundings: Surroundings): Load {
  return new Cluster(simulated, surroundings).run();
}

class Cluster {
  readonly #case: Case;
  readonly #surroundings: Surroundings;
  readonly #schedule: Schedule;
  readonly #random: () => number;
  readonly #events = new EventQueue<() => void>();
  readonly #services: readonly VirtualService[];
  /** The endpoints that are there now, by their place. */
  readonly #endpoints: Endpoint[] = [];
  readonly #endpointOf = new Map<RealServer, Endpoint>();
  #created = 0;

  constructor(simulated: Case, surroundings: Surroundings) {
    this.#case = simulated;
    this.#surroundings = surroundings;
    this.#schedule = scheduleOf(simulated.traffic, surroundings);
    this.#random = seededRandom(surroundings.seed);
    const tables: Tables = new Map();
    this.#services = Array.from(
      { length: simulated.nodes },
      () => new VirtualService(simulated.variant.scheduler, tables),
    );
    for (let place = 0; place < surroundings.endpoints; place++)
      this.#endpoints.push(this.#endpointAt(place));
    for (const [node, service] of this.#services.entries()) {
      const servers = this.#endpoints.map((endpoint) => endpoint.servers[node] as RealServer);
      for (const server of surroundings.order === 'equal' ? servers : this.#shuffled(servers))
        service.add(server);
    }
  }

  run(): Load {
    const { open, rollout, from, until, every } = this.#schedule;
    for (let i = 0; i < open; i++) this.#connect(this.#anyClient());
    this.#events.add(this.#exponential(1 / this.#schedule.rate), () => this.#arrive());
    if (rollout !== undefined) {
      for (const place of this.#endpoints.keys()) {
        this.#events.add(rollout + (place + 1) * REPLACEMENT_SECONDS, () => this.#replace(place));
      }
    }
    const totals = this.#endpoints.map(() => 0);
    const ratios: number[] = [];
    for (let time = from; time <= until; time += every) {
      this.#events.runUntil(time, (act) => act());
      const loads = this.#endpoints.map((endpoint) => this.#loadOf(endpoint));
      for (const [place, load] of loads.entries()) totals[place] = (totals[place] as number) + load;
      // No connection is open: there is no load to divide.
      if (loads.some((load) => load > 0)) ratios.push(highestToMean(loads));
    }
    return { atMoment: mean(ratios), overTime: highestToMean(totals) };
  }

  /** Requests in progress. A short connection is one; on a long one, each takes as long as the endpoint needs. */
  #loadOf({ connections, speed }: Endpoint): number {
    return this.#case.traffic === 'short' ? connections.size : connections.size / speed;
  }

  #endpointAt(place: number): Endpoint {
    const speed = speedOf(this.#case.speeds, place);
    const weight = weightOf(this.#case.variant, speed);
    const address = ENDPOINT_ADDRESS + ++this.#created;
    const endpoint = {
      speed,
      servers: this.#services.map(() => ({ address, port: ENDPOINT_PORT, weight, active: 0, inactive: 0 })),
      connections: new Set<Connection>(),
    };
    for (const server of endpoint.servers) this.#endpointOf.set(server, endpoint);
    return endpoint;
  }

  /** A new connection, and the time of the next one. */
  #arrive(): void {
    this.#connect(this.#anyClient());
    this.#events.add(this.#events.now + this.#exponential(1 / this.#schedule.rate), () => this.#arrive());
  }

  #anyClient(): number {
    return Math.floor(this.#random() * this.#surroundings.clients);
  }

  /** A client connects on its node. */
  #connect(client: number): void {
    const { nodes, variant, traffic } = this.#case;
    const port = PORTS.first + Math.floor(this.#random() * PORTS.count);
    const address = CLIENT_ADDRESS + client + 1;
    const server = this.#services[client % nodes]?.connect({
      address,
      port: variant.byPort === true ? port : 0,
    });
    const endpoint = server && this.#endpointOf.get(server);
    if (server === undefined || endpoint === undefined) throw new Error('a node has no endpoint');
    const connection = { client, server, endpoint };
    endpoint.connections.add(connection);
    const slowdown = traffic === 'short' ? endpoint.speed : 1;
    const duration = this.#exponential(this.#schedule.duration / slowdown);
    this.#events.add(this.#events.now + duration, () => this.#end(connection));
  }

  /** A connection ends, and is kept for a while. Those of an endpoint that is gone have ended before. */
  #end(connection: Connection): void {
    const { server, endpoint } = connection;
    if (!endpoint.connections.delete(connection)) return;
    server.active--;
    server.inactive++;
    this.#events.add(this.#events.now + KEPT_SECONDS, () => {
      server.inactive--;
    });
  }

  /** A new endpoint takes the place of one, whose clients connect again. */
  #replace(place: number): void {
    const former = this.#endpoints[place] as Endpoint;
    const endpoint = this.#endpointAt(place);
    this.#endpoints[place] = endpoint;
    for (const [node, service] of this.#services.entries()) {
      service.add(endpoint.servers[node] as RealServer);
      service.remove(former.servers[node] as RealServer);
    }
    const clients = [...former.connections].map(({ client }) => client);
    former.connections.clear();
    for (const client of clients) this.#connect(client);
  }

  /** A random time with this mean. */
  #exponential(seconds: number): number {
    return -Math.log(1 - this.#random()) * seconds;
  }

  #shuffled<Value>(values: readonly Value[]): Value[] {
    return values
      .map((value) => ({ value, key: this.#random() }))
      .sort((one, other) => one.key - other.key)
      .map(({ value }) => value);
  }
}

function highestToMean(values: readonly number[]): number {
  return Math.max(...values) / mean(values);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
