// The schedulers rr, lc, sed and mh of IPVS: which real server a node's kernel gives to a new connection. Each follows its file of
// net/netfilter/ipvs/. Pure, but for the counts and positions that a virtual service keeps.
import { type Hashed, maglevTable, placeOf, type Weighted } from './hash.js';

/** A real server with a weight above 0, and the connections that this node's kernel counts. */
export interface RealServer extends Weighted {
  /** Open connections: `ActiveConn` of ipvsadm. */
  active: number;
  /** Connections that have ended, and that IPVS still keeps: `InActConn`. */
  inactive: number;
}

/** The names of the schedulers. */
export const SCHEDULERS = ['rr', 'lc', 'sed', 'mh'] as const;
export type SchedulerName = (typeof SCHEDULERS)[number];

/** Selects a real server; none if there is none. */
type Select = (servers: readonly RealServer[], client: Hashed) => RealServer | undefined;

/** Tables of mh by their real servers: all nodes with the same list have the same table. */
export type Tables = Map<string, Int32Array>;

/** A virtual service of one node. */
export class VirtualService {
  /** In the kernel's order: a new real server is the first. */
  readonly servers: RealServer[] = [];
  readonly #name: SchedulerName;
  readonly #tables: Tables;
  /** The last one that rr selected; none before the first of the list. */
  #last: RealServer | undefined;
  /** The table of mh; none after a change of the real servers. */
  #table: Int32Array | undefined;

  constructor(scheduler: SchedulerName, tables: Tables = new Map()) {
    this.#name = scheduler;
    this.#tables = tables;
  }

  add(server: RealServer): void {
    this.servers.unshift(server);
    this.#table = undefined;
  }

  remove(server: RealServer): void {
    const place = this.servers.indexOf(server);
    if (place < 0) throw new Error('the virtual service has no such real server');
    if (this.#last === server) this.#last = this.servers[place - 1];
    this.servers.splice(place, 1);
    this.#table = undefined;
  }

  /** The real server of a new connection. It counts as active from now on. */
  connect(client: Hashed): RealServer | undefined {
    const server = this.#select[this.#name](this.servers, client);
    if (server !== undefined) server.active++;
    return server;
  }

  readonly #select: Readonly<Record<SchedulerName, Select>> = {
    rr: (servers) => {
      const start = this.#last === undefined ? 0 : servers.indexOf(this.#last) + 1;
      this.#last = servers[start] ?? servers[0];
      return this.#last;
    },
    lc: (servers) => leastOf(servers, ({ active, inactive }) => active * 256 + inactive),
    sed: (servers) => leastOf(servers, ({ active, weight }) => (active + 1) / weight),
    mh: (servers, client) => servers[this.#tableOf(servers)[placeOf(client)] as number],
  };

  #tableOf(servers: readonly RealServer[]): Int32Array {
    if (this.#table !== undefined) return this.#table;
    const key = servers.map(({ address, port, weight }) => `${address}:${port}*${weight}`).join();
    let table = this.#tables.get(key);
    if (table === undefined) {
      table = maglevTable(servers);
      this.#tables.set(key, table);
    }
    this.#table = table;
    return table;
  }
}

/** The first of those with the least cost. */
function leastOf(
  servers: readonly RealServer[],
  costOf: (server: RealServer) => number,
): RealServer | undefined {
  let least: RealServer | undefined;
  let leastCost = Number.POSITIVE_INFINITY;
  for (const server of servers) {
    const cost = costOf(server);
    if (cost < leastCost) {
      least = server;
      leastCost = cost;
    }
  }
  return least;
}
