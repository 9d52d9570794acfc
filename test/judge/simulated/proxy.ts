// A simulated proxy with its kernel: programs states some time after they were stored, and answers connections from what is
// programmed. With a flaw, it does one thing wrong.
import { type ClusterState, EMPTY_CLUSTER } from '../core/cluster.js';
import { affinityKey, keyOf, type Target } from '../core/frontends.js';
import type { FaultName } from '../core/history.js';
import { below, type Random } from '../core/random.js';
import { addressIn, CLIENT_ADDRESSES, JUDGED_NODE, podNamed } from '../core/world.js';
import type { Flaw } from './flaws.js';
import { type ProgrammedFrontend, tableOf } from './table.js';

/** How a simulated request ends. */
export interface Answer {
  readonly result: 'answered' | 'refused' | 'reset' | 'timeout';
  readonly by?: string;
  readonly seen?: string;
}

/** Times of a simulated proxy, in ms. */
export interface ProxyTimes {
  /** The longest time until a change is programmed. */
  readonly programming: number;
  /** The time until damage is repaired, and until a started proxy has programmed. */
  readonly repair: number;
}

/** A simulated proxy. */
export class SimulatedProxy {
  readonly #random: Random;
  readonly #times: ProxyTimes;
  readonly #flaw: Flaw | undefined;
  #table: Map<string, ProgrammedFrontend> = new Map();
  #programmed: ClusterState = EMPTY_CLUSTER;
  /** The last state that the proxy has received. */
  #latest: ClusterState = EMPTY_CLUSTER;
  #due = Number.POSITIVE_INFINITY;
  #down = false;
  /** Frontends that damage has removed, and the time of their repair. */
  readonly #damaged = new Set<string>();
  #repair = Number.POSITIVE_INFINITY;
  /** Whether the next pass keeps what it should remove, and the frontends that were kept. */
  #keepsNext = false;
  readonly #ghosts = new Map<string, ProgrammedFrontend>();
  /** It does not ask the API server any more. */
  #gaveUp = false;
  /** Endpoints of a flaw that left and stay. */
  readonly #kept = new Map<string, Set<string>>();
  #removals = 0;
  /** Pods by connection, and by client and Service port. */
  readonly #connections = new Map<number, { readonly pod: string; readonly service: string }>();
  readonly #streams = new Map<number, { readonly pod: string; readonly key: string }>();
  readonly #affinity = new Map<string, { readonly pod: string; readonly until: number }>();
  /** Streams that began without rules or endpoints; a correct proxy has none. */
  readonly #unanswered = new Set<number>();
  /** Whether no pass has been made since a fault. */
  #isFirstPass = false;
  #now = 0;

  constructor(random: Random, times: ProxyTimes, flaw: Flaw | undefined) {
    this.#random = random;
    this.#times = times;
    this.#flaw = flaw;
  }

  /** A state was stored. */
  store(state: ClusterState, now: number): void {
    if (this.#gaveUp || (this.#down && this.#flaw === 'lostWhileDown')) return;
    this.#latest = state;
    if (this.#down) return;
    const late = this.#flaw === 'late' ? 20 * this.#times.programming : 0;
    const due = now + late + this.#random() * this.#times.programming;
    this.#due = this.#flaw === 'late' ? due : Math.min(this.#due, due);
  }

  /** The API server has the current state again, after an older one. */
  storeCurrent(state: ClusterState, now: number): void {
    this.#keepsNext = this.#flaw === 'olderStays';
    this.#isFirstPass = true;
    this.store(state, now);
  }

  /** The proxy, or its API server, is gone. */
  stop(): void {
    this.#down = true;
    this.#due = Number.POSITIVE_INFINITY;
  }

  /** It is back after a fault. A proxy in another mode does not know the clients of the one before. */
  start(fault: FaultName, now: number): void {
    this.#down = false;
    this.#isFirstPass = true;
    if (fault === 'modeChanged') this.#affinity.clear();
    if (fault === 'modeChanged' && this.#flaw === 'gapAtModeChange') this.#flush(now);
    if (fault === 'serverCompacting') this.#keepsNext = this.#flaw === 'listKeepsDeleted';
    if (fault === 'serverForbidden') this.#gaveUp ||= this.#flaw === 'givesUpWhenForbidden';
    if (this.#flaw !== 'lostWhileDown' && !this.#gaveUp) this.#due = now + this.#times.repair;
    if (this.#damaged.size > 0) this.#repair = now + this.#times.repair;
    if (this.#flaw === 'flushedAtStart') this.#flush(now);
  }

  /** Another program deletes all that was programmed. */
  damage(now: number): void {
    this.#flush(now);
    const isMissed = this.#flaw === 'flushTakenForOwn' && Number.isFinite(this.#due);
    if (this.#flaw === 'unhealedDamage' || isMissed) this.#repair = Number.POSITIVE_INFINITY;
  }

  /** Lets time pass: what is due is programmed. */
  advance(now: number): void {
    this.#now = now;
    if (this.#down) return;
    if (now >= this.#repair) {
      this.#damaged.clear();
      this.#repair = Number.POSITIVE_INFINITY;
    }
    if (now >= this.#due) {
      this.#due = Number.POSITIVE_INFINITY;
      this.#program(this.#latest);
    }
  }

  /** A new connection, or a datagram from a socket. Without a number, it is used once. */
  connect(target: Target, connection?: number): Answer {
    if (target.kind === 'healthCheck') return this.#health(target);
    if (connection !== undefined && this.#unanswered.has(connection)) return { result: 'timeout' };
    const answer = this.#connect(target, connection);
    const isFlow = target.protocol === 'UDP' && connection !== undefined && answer.result !== 'answered';
    if (isFlow && this.#flaw === 'unansweredStays') this.#unanswered.add(connection);
    return answer;
  }

  /** A health-check node port, which other programs do not damage. */
  #health(target: Target): Answer {
    const by = this.#table.get(keyOf(target))?.outside[0];
    return this.#down || by === undefined ? { result: 'refused' } : { result: 'answered', by };
  }

  #connect(target: Target, connection?: number): Answer {
    const key = keyOf(target);
    const frontend = this.#damaged.has(key) ? undefined : this.#table.get(key);
    if (!frontend) {
      const isHost = target.kind === 'nodePort' || target.kind === 'localhost';
      return { result: isHost ? 'refused' : 'timeout' };
    }
    if (frontend.ranges && (target.client === 'stranger' || target.client === 'pod'))
      return { result: 'timeout' };
    const inside = target.client === 'pod' || target.client === 'node';
    const pods = inside ? frontend.inside : frontend.outside;
    const flow =
      target.protocol === 'UDP' && connection !== undefined ? this.#streams.get(connection)?.pod : undefined;
    if (pods.length === 0 && flow === undefined) {
      const dropped = this.#flaw === 'silentWhenEmpty' || frontend.inside.length > 0;
      return { result: dropped ? 'timeout' : 'refused' };
    }
    const by = flow ?? this.#choose(frontend, target, pods);
    if (connection !== undefined) this.#remember(connection, by, frontend, target);
    return { result: 'answered', by, seen: this.#sourceOf(frontend, target, by) };
  }

  /** A later request of a connection. */
  ask(target: Target, connection: number): Answer {
    const open = this.#connections.get(connection);
    if (!open) return { result: 'reset' };
    const seen = addressIn(CLIENT_ADDRESSES[target.client === 'node' ? 'pod' : target.client], target.family);
    return { result: 'answered', by: open.pod, seen };
  }

  #remember(
    connection: number,
    pod: string,
    { service, key }: ProgrammedFrontend,
    { protocol }: Target,
  ): void {
    if (protocol === 'UDP') this.#streams.set(connection, { pod, key });
    else this.#connections.set(connection, { pod, service });
  }

  #choose(frontend: ProgrammedFrontend, target: Target, pods: readonly string[]): string {
    const known = affinityKey(frontend.service, target);
    const remembered = this.#affinity.get(known);
    const holds = remembered && (this.#flaw === 'affinityStays' || this.#now < remembered.until);
    const bound =
      frontend.affinity > 0 && holds && pods.includes(remembered.pod) ? remembered.pod : undefined;
    const count = this.#flaw === 'endpointNeverChosen' && pods.length > 1 ? pods.length - 1 : pods.length;
    const pod = bound ?? (pods[below(this.#random, count)] as string);
    if (frontend.affinity > 0)
      this.#affinity.set(known, { pod, until: this.#now + 1000 * frontend.affinity });
    return pod;
  }

  #sourceOf(frontend: ProgrammedFrontend, { client, family }: Target, by: string): string {
    const node = podNamed(by).node === 'node-a' ? JUDGED_NODE.podGateway : JUDGED_NODE;
    if (client === 'node' || this.#flaw === 'wrongSource') return addressIn(node, family);
    const keeps = frontend.kind === 'clusterIP' || (frontend.keepsOutside && client !== 'pod');
    return addressIn(keeps ? CLIENT_ADDRESSES[client] : node, family);
  }

  #flush(now: number): void {
    for (const key of this.#table.keys()) this.#damaged.add(key);
    this.#repair = now + this.#times.repair;
  }

  #program(state: ClusterState): void {
    const before = this.#programmed;
    const changed = changedServices(before, state);
    this.#programmed = state;
    const wanted = this.#distorted(before, state);
    const table = tableOf(wanted, this.#flaw);
    if (this.#flaw === 'serviceLeft') {
      for (const [key, frontend] of this.#table) {
        if (!state.services.has(frontend.service) && !table.has(key)) table.set(key, frontend);
      }
    }
    if (this.#flaw === 'nodePortMissing') {
      for (const [key, { kind, service }] of table) {
        const isAdded = kind === 'nodePort' && before.services.has(service) && !this.#table.has(key);
        if (isAdded) table.delete(key);
      }
    }
    this.#addGhosts(table);
    if (this.#flaw === 'rangesEndFirst') this.#keepWithoutRanges(table);
    this.#table = table;
    this.#dropFlows(changed);
    this.#isFirstPass = false;
  }

  /** Adds what flaws keep although it was deleted. */
  #addGhosts(table: Map<string, ProgrammedFrontend>): void {
    if (this.#keepsNext) {
      for (const [key, frontend] of this.#table) if (!table.has(key)) this.#ghosts.set(key, frontend);
    }
    this.#keepsNext = false;
    for (const [key, frontend] of this.#ghosts) if (!table.has(key)) table.set(key, frontend);
  }

  /** Adds the addresses that go with their ranges, without these; the next pass removes them. */
  #keepWithoutRanges(table: Map<string, ProgrammedFrontend>): void {
    for (const [key, frontend] of this.#table) {
      if (!frontend.ranges || table.has(key)) continue;
      table.set(key, { ...frontend, ranges: false });
      this.#due = this.#now + this.#times.programming;
    }
  }

  /** The state that is programmed: the wanted one, but for the flaw. */
  #distorted(before: ClusterState, state: ClusterState): ClusterState {
    if (this.#flaw === 'zoneIgnored') return { ...state, zone: EMPTY_CLUSTER.zone };
    if (this.#flaw !== 'lostRemoval' && this.#flaw !== 'readyAgainLost') return state;
    const endpoints = new Map(state.endpoints);
    for (const [service, list] of state.endpoints) {
      const kept = this.#kept.get(service) ?? new Set();
      this.#kept.set(service, kept);
      const old = before.endpoints.get(service) ?? [];
      if (this.#flaw === 'lostRemoval') {
        for (const { pod } of old) {
          if (!list.some((endpoint) => endpoint.pod === pod) && ++this.#removals % 3 === 0) kept.add(pod);
        }
        const left = [...kept].filter((pod) => !list.some((endpoint) => endpoint.pod === pod));
        endpoints.set(service, [...list, ...left.map((pod) => ({ pod, condition: 'ready' as const }))]);
      } else {
        for (const { pod, condition } of old) if (condition === 'notReady') kept.add(pod);
        endpoints.set(
          service,
          list.filter(({ pod }) => !kept.has(pod)),
        );
      }
    }
    return { ...state, endpoints };
  }

  #dropFlows(changed: ReadonlySet<string>): void {
    if (this.#flaw !== 'staleStream') {
      for (const [connection, { pod, key }] of this.#streams) {
        const flows = this.#table.get(key)?.flows;
        const stays =
          (this.#flaw === 'firstPassKeepsFlows' && this.#isFirstPass) ||
          (this.#flaw === 'lastFlowsStay' && flows?.length === 0);
        if (stays || flows?.includes(pod)) continue;
        this.#streams.delete(connection);
        if (this.#flaw === 'leftStreamsEnd') this.#unanswered.add(connection);
      }
    }
    if (this.#flaw === 'affinityLost') {
      for (const key of this.#affinity.keys())
        if (changed.has(key.split(' ')[1] ?? '')) this.#affinity.delete(key);
    }
    if (this.#flaw === 'establishedReset') {
      for (const [connection, { service }] of this.#connections) {
        if (changed.has(service)) this.#connections.delete(connection);
      }
    }
  }
}

/** Services that differ, or whose endpoints differ. */
function changedServices(before: ClusterState, after: ClusterState): Set<string> {
  const names = new Set([...before.services.keys(), ...after.services.keys(), ...after.endpoints.keys()]);
  return new Set(
    [...names].filter(
      (name) =>
        before.services.get(name) !== after.services.get(name) ||
        before.endpoints.get(name) !== after.endpoints.get(name),
    ),
  );
}
