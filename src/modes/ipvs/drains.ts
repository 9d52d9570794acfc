// Real servers whose connections are running out. Weight 0 in the kernel is the record; here stands only since when, and
// the look at their connections that tells whether they may go.
import type { VirtualServiceState } from '../../kernel/ipvs/types.js';
import { joinHostPort } from '../../net/address.js';
import type { Known, Pass } from '../mode.js';
import type { Item } from './items.js';
import type { IpvsKernel } from './kernel.js';
import type { Operation } from './operations.js';

/** Milliseconds between two looks at connections that are running out. */
export const DRAIN_LOOK = 5000;

/** Real server → since when it drains, ms; undefined until it is first looked at. */
type Since = Map<string, number | undefined>;

/** The drain list. */
export class Drains {
  /** By key of the virtual server. */
  readonly #servers = new Map<string, Since>();

  /** Takes in a kernel that was read: weight 0 means draining, whoever set it, until a plan wants the real server. */
  observe(known: Known<Item>): void {
    const before = new Map(this.#servers);
    this.#servers.clear();
    for (const [key, item] of known) {
      if (item.kind !== 'virtualServer' || item.foreign) continue;
      for (const [id, { weight }] of item.realServers) {
        if (weight === 0) this.#add(key, id, before.get(key)?.get(id));
      }
    }
  }

  /** Takes in an acknowledged operation. */
  learn({ key, call }: Operation): void {
    if (call.on !== 'ipvs' || !('realServer' in call.operation)) return;
    const { do: verb, realServer } = call.operation;
    const id = joinHostPort(realServer.address, realServer.port);
    if (verb === 'updateRealServer' && call.operation.realServer.weight === 0) this.#add(key, id, undefined);
    else this.#remove(key, id);
  }

  /** How many real servers are draining. */
  get size(): number {
    let size = 0;
    for (const since of this.#servers.values()) size += since.size;
    return size;
  }

  /**
   * Removals of real servers that may go now: idle, or draining for longer than the bound.
   *
   * @param bound longest time that a real server drains, ms
   */
  async due(
    ipvs: IpvsKernel['ipvs'],
    { desired, known, now }: Pass<Item>,
    bound: number,
  ): Promise<Operation[]> {
    const operations: Operation[] = [];
    for (const [key, since] of this.#servers) {
      const have = known.get(key);
      this.#forgetSettled(key, since, have, desired.get(key));
      if (since.size === 0 || have?.kind !== 'virtualServer') continue;
      const connections = connectionsOf(await ipvs.get(have.service));
      for (const [id, start = now] of since) {
        since.set(id, start);
        const realServer = have.realServers.get(id);
        if (!realServer || ((connections.get(id) ?? 0) > 0 && now - start < bound)) continue;
        const operation = { do: 'deleteRealServer', service: have.service, realServer } as const;
        operations.push({ key, phase: 'deleteServers', call: { on: 'ipvs', operation }, becomes: have });
      }
    }
    return operations;
  }

  /** Those that went with their virtual server, and those that a plan wants again, drain no more. */
  #forgetSettled(key: string, since: Since, have: Item | undefined, want: Item | undefined): void {
    for (const id of since.keys()) {
      const there = have?.kind === 'virtualServer' && have.realServers.get(id)?.weight === 0;
      const wanted = want?.kind === 'virtualServer' && want.realServers.has(id);
      if (!there || wanted) this.#remove(key, id);
    }
  }

  #add(key: string, id: string, start: number | undefined): void {
    const since: Since = this.#servers.get(key) ?? new Map();
    this.#servers.set(key, since.set(id, since.get(id) ?? start));
  }

  #remove(key: string, id: string): void {
    const since = this.#servers.get(key);
    if (since?.delete(id) && since.size === 0) this.#servers.delete(key);
  }
}

function connectionsOf(state: VirtualServiceState | undefined): Map<string, number> {
  return new Map(
    state?.realServers.map(({ address, port, activeConnections, inactiveConnections }) => [
      joinHostPort(address, port),
      activeConnections + inactiveConnections,
    ]),
  );
}
