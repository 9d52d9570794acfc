// Draining real servers: they get no new connections, and are removed after their last one has ended. Weight 0 in the
// kernel is the record; this list has only the start of each draining and the time of the next count.
import { NetlinkError } from '../../../../kernel/errors.js';
import type { RealServer, RealServerId, VirtualServiceState } from '../../../../kernel/ipvs/types.js';
import { noChange, type RealServerChange, serverId } from '../../../../kernel/ipvs/values/serverLists.js';
import type { Maintenance, Pass } from '../../mode.js';
import type { IsProtected } from '../plan/excluded.js';
import type { Item } from '../plan/items.js';
import { type Operation, serverOperation } from '../plan/operations.js';
import { serverOf, withOthers } from '../plan/realServers.js';
import type { IpvsKernel } from './kernel.js';

/** Time between two counts of the connections of one virtual service's draining real servers, in ms. */
export const DRAINING_CHECK = 5000;

/** Real server, `address:port` → start of its draining, in ms; undefined before its connections are first counted. */
type Since = Map<string, number | undefined>;

/** Removals, and the virtual services whose connections could not be counted. */
type Due = Pick<Maintenance<Operation>, 'operations' | 'failures'>;
type Failure = Due['failures'][number];

/** All draining real servers. Keys are those of virtual services. */
export class DrainingServers {
  readonly #servers = new Map<string, Since>();
  /** Keys whose connections are counted in the next pass. */
  readonly #fresh = new Set<string>();
  /** Key → time of the next count of connections, in ms, in ascending order. */
  readonly #queue = new Map<string, number>();
  readonly #isProtected: IsProtected;
  /** Key and real server: those whose removal is due because of the bound, although they have connections. */
  readonly #overdue = new Set<string>();
  #size = 0;
  #timeouts = 0;

  /** @param isProtected virtual services that stay with their real servers when no plan has them any more */
  constructor(isProtected: IsProtected) {
    this.#isProtected = isProtected;
  }

  /**
   * Records virtual services that were read from the kernel: weight 0 always means draining. Connections of a virtual
   * service that is read again are counted immediately, because a removal may have failed.
   */
  observe(found: ReadonlyMap<string, Item>): void {
    for (const [key, item] of found) {
      if (item.kind !== 'virtualService' || item.foreign) continue;
      for (const [id, { weight }] of item.others ?? []) if (weight === 0) this.#add(key, id);
    }
  }

  /** Records an acknowledged operation. */
  learn({ key, call }: Operation): void {
    if (call.on !== 'ipvs') return;
    const { verb, others } = call.change;
    if (verb === 'deleteService') this.#removeAll(key);
    for (const one of others) {
      const id = serverId(one.realServer);
      if (one.do === 'deleteRealServer' && this.#overdue.has(`${key} ${id}`)) this.#timeouts++;
      if (one.do !== 'deleteRealServer' && one.realServer.weight === 0) this.#add(key, id);
      else this.#remove(key, id);
    }
  }

  /** Number of draining real servers. */
  get size(): number {
    return this.#size;
  }

  /** Number of real servers that were removed at the bound although they had connections, since the start. */
  get timeouts(): number {
    return this.#timeouts;
  }

  /** Time until the next count of connections, in ms; undefined if no real server is draining. */
  dueIn(now: number): number | undefined {
    if (this.#fresh.size > 0) return 0;
    for (const due of this.#queue.values()) return Math.max(0, due - now);
    return undefined;
  }

  /**
   * Removals of real servers that are idle, or have been draining for longer than the bound. Counts only the
   * connections of virtual services that are due.
   *
   * @param bound maximum time of draining of Services without a setting, in ms
   */
  async due(ipvs: IpvsKernel['ipvs'], pass: Pass<Item>, bound: number): Promise<Due> {
    const operations: Operation[] = [];
    const failures: Failure[] = [];
    const look = async (key: string) => {
      try {
        const operation = await this.#look(key, ipvs, pass, bound);
        if (operation) operations.push(operation);
      } catch (error) {
        if (!(error instanceof NetlinkError)) throw error;
        failures.push({ key: `draining real servers of ${key}`, error });
      }
    };
    for (const key of this.#fresh) await look(key);
    for (const [key, due] of this.#queue) {
      if (due > pass.now) break;
      await look(key);
    }
    return { operations, failures };
  }

  async #look(
    key: string,
    ipvs: IpvsKernel['ipvs'],
    { desired, known, now }: Pass<Item>,
    bound: number,
  ): Promise<Operation | undefined> {
    const have = known.get(key);
    const want = desired.get(key);
    if (have && !want && this.#isProtected(have)) {
      this.#removeAll(key);
      return undefined;
    }
    const since = this.#unsettled(key, have, want);
    if (since === undefined || have?.kind !== 'virtualService') return undefined;
    // Before the count: if it fails, it is repeated after the same delay.
    this.#postpone(key, now + DRAINING_CHECK);
    const own = want?.kind === 'virtualService' ? want.drainBound : undefined;
    const connections = connectionsOf(await ipvs.get(have.service));
    const others: RealServerChange[] = [];
    const remaining = new Map(have.others);
    for (const [id, start = now] of since) {
      since.set(id, start);
      const realServer = have.others?.get(id);
      // A kept real server with weight 0 is in `want`: it is not removed while some objects are unreadable.
      if (!realServer || wantedIn(want, realServer)) continue;
      const busy = (connections.get(id) ?? 0) > 0;
      if (busy && now - start < (own ?? bound)) continue;
      if (busy) this.#overdue.add(`${key} ${id}`);
      else this.#overdue.delete(`${key} ${id}`);
      others.push({ do: 'deleteRealServer', realServer });
      remaining.delete(id);
    }
    if (others.length === 0) return undefined;
    const change = { ...noChange(have.service), others };
    return serverOperation('deleteServers', key, change, withOthers(have, remaining));
  }

  /** The real servers that are still draining. Removes those that no longer exist or that a plan uses again. */
  #unsettled(key: string, have: Item | undefined, want: Item | undefined): Since | undefined {
    for (const id of this.#servers.get(key)?.keys() ?? []) {
      const server = have?.kind === 'virtualService' ? have.others?.get(id) : undefined;
      if (server?.weight !== 0 || (wantedIn(want, server)?.weight ?? 0) > 0) this.#remove(key, id);
    }
    return this.#servers.get(key);
  }

  #postpone(key: string, due: number): void {
    this.#fresh.delete(key);
    this.#queue.delete(key);
    this.#queue.set(key, due);
  }

  /** A new one is due immediately: an idle real server is removed in the same pass. */
  #add(key: string, id: string): void {
    const since: Since = this.#servers.get(key) ?? new Map();
    this.#fresh.add(key);
    if (since.has(id)) return;
    this.#servers.set(key, since.set(id, undefined));
    this.#size++;
  }

  #remove(key: string, id: string): void {
    const since = this.#servers.get(key);
    if (!since?.delete(id)) return;
    this.#size--;
    this.#overdue.delete(`${key} ${id}`);
    if (since.size === 0) this.#forget(key);
  }

  #removeAll(key: string): void {
    const since = this.#servers.get(key);
    this.#size -= since?.size ?? 0;
    for (const id of since?.keys() ?? []) this.#overdue.delete(`${key} ${id}`);
    this.#forget(key);
  }

  #forget(key: string): void {
    this.#servers.delete(key);
    this.#fresh.delete(key);
    this.#queue.delete(key);
  }
}

function wantedIn(want: Item | undefined, id: RealServerId): RealServer | undefined {
  return want?.kind === 'virtualService' ? serverOf(want, id) : undefined;
}

function connectionsOf(state: VirtualServiceState | undefined): Map<string, number> {
  return new Map(
    state?.realServers.map((server) => [
      serverId(server),
      server.activeConnections + server.inactiveConnections,
    ]),
  );
}
