// TCP node ports on localhost, which the agent serves itself: as kube-proxy in nftables mode, from 1.37 on, with gate
// KubeProxyNFTablesLocalhostNodePorts (KEP-6032). The rules of the kernel cannot translate destinations on loopback addresses.
import { performance } from 'node:perf_hooks';
import type { Family } from '../../kernel/net/address.js';
import type { Chance, Target } from './endpointChoice.js';
import { type NodePort, PortListener } from './listener.js';
import type { RelayTimes } from './relay.js';

/** Reports of the listeners. */
export interface LocalhostPortEvents {
  opened(port: NodePort, endpoints: number): void;
  closed(port: NodePort): void;
  /** The listener could not be opened; it is tried again. */
  refused(port: NodePort, error: Error): void;
  /** A connection to an endpoint failed. */
  failed(port: NodePort, error: Error): void;
  /** So many listeners are wanted and not opened, because {@link LocalhostPortSettings.mostListeners} are open; 0 when they are. */
  beyond(count: number): void;
  /** Number of open listeners of a family. */
  listeners(family: Family, count: number): void;
}

/** The settings, each with a default. */
export interface LocalhostPortSettings extends Partial<Chance> {
  /** Time limits of connections. */
  readonly times?: Partial<RelayTimes>;
  /**
   * Most connections of all listeners. A further one takes the place of the one without a byte for longest, of the listener with the most
   * connections. A connection needs two descriptors and, if its peers do not read, up to 256 KiB. Default 256.
   */
  readonly mostConnections?: number;
  /** Most listeners; those beyond are opened when others are closed. Each has a descriptor. Default: no limit. */
  readonly mostListeners?: number;
  /** Time until a listener that could not be opened is tried again, in ms; default 5 s. */
  readonly retryIn?: number;
}

/** An hour, in ms. */
const HOUR = 3_600_000;

/** kube-proxy has no limits of idle connections: these are those of conntrack, which forgets a translated connection after them. */
const TIMES: RelayTimes = { dial: 5000, idle: 24 * HOUR, halfClosed: HOUR };

/** Time between two searches for idle connections, in ms, unless a limit is shorter. */
const SWEEP = 60_000;

/** A node port of a Service that is wanted. */
export interface WantedPort {
  readonly nodePort: NodePort;
  readonly target: Target;
}

/** The node ports of Services that were planned; none for a Service that has none any more. */
export type PlannedPorts = ReadonlyMap<string, readonly WantedPort[]>;

/** A node port: what is wanted of it, and its listener. */
interface Entry extends WantedPort {
  /** Undefined while it is not open. */
  listener: PortListener | undefined;
}

/** All node ports that are served on localhost. A change of a Service costs what this Service has. */
export class LocalhostPorts {
  readonly #events: LocalhostPortEvents;
  readonly #chance: Chance;
  readonly #times: RelayTimes;
  readonly #most: number;
  readonly #mostListeners: number;
  readonly #retryIn: number;
  /** The keys of the node ports of each Service, as they were applied last. */
  readonly #ofService = new Map<string, readonly string[]>();
  /** By family and port. */
  readonly #entries = new Map<string, Entry>();
  /** The keys of those that could not be opened. */
  readonly #refused = new Set<string>();
  /** The keys of those beyond the limit of listeners. */
  readonly #beyond = new Set<string>();
  /** The number of them that was reported last. */
  #toldBeyond = 0;
  /** Number of open listeners. */
  #open = 0;
  readonly #counts = new Map<Family, number>();
  #applied: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  readonly #sweep: NodeJS.Timeout;
  /** Number of connections of all listeners. */
  #connections = 0;
  #closed = false;

  constructor(
    families: Iterable<Family>,
    events: LocalhostPortEvents,
    {
      times,
      mostConnections = 256,
      mostListeners = Number.POSITIVE_INFINITY,
      retryIn = 5000,
      ...chance
    }: LocalhostPortSettings = {},
  ) {
    this.#events = events;
    this.#chance = { now: () => performance.now(), random: Math.random, ...chance };
    this.#times = { ...TIMES, ...times };
    this.#most = mostConnections;
    this.#mostListeners = mostListeners;
    this.#retryIn = retryIn;
    const sweep = Math.min(SWEEP, this.#times.idle, this.#times.halfClosed);
    this.#sweep = setInterval(() => this.#closeIdle(), sweep).unref();
    for (const family of families) this.#count(family, 0);
  }

  /** These plans are in the kernel. Resolves when the listeners are as all plans want. */
  apply(planned: PlannedPorts): Promise<void> {
    this.#applied = this.#applied.then(() => this.#change(planned));
    return this.#applied;
  }

  /** Closes all listeners and connections. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweep);
    clearTimeout(this.#retry);
    await this.#applied;
    for (const [key, entry] of this.#entries) this.#remove(key, entry);
  }

  async #change(planned: PlannedPorts): Promise<void> {
    const left = new Set<string>();
    for (const service of planned.keys()) {
      for (const key of this.#ofService.get(service) ?? []) left.add(key);
      this.#ofService.delete(service);
    }
    const wanted = new Map<string, WantedPort>();
    for (const [service, ports] of planned) {
      const keys = ports.map(({ nodePort }) => keyOf(nodePort));
      if (keys.length > 0) this.#ofService.set(service, keys);
      for (const [i, key] of keys.entries()) wanted.set(key, ports[i] as WantedPort);
    }
    for (const key of left) {
      const entry = this.#entries.get(key);
      // A node port may go from one Service to another.
      if (entry && !wanted.has(key)) this.#remove(key, entry);
    }
    for (const [key, { nodePort, target }] of wanted) {
      if (this.#closed) return;
      const known = this.#entries.get(key);
      const entry = { nodePort, target, listener: known?.listener };
      this.#entries.set(key, entry);
      if (known?.listener) known.listener.update(target);
      else await this.#listen(key, entry);
    }
    await this.#listenToWaiting(this.#beyond);
    if (this.#beyond.size === this.#toldBeyond) return;
    this.#toldBeyond = this.#beyond.size;
    this.#events.beyond(this.#toldBeyond);
  }

  async #listen(key: string, entry: Entry): Promise<void> {
    const { nodePort, target } = entry;
    if (this.#open >= this.#mostListeners) {
      this.#refused.delete(key);
      this.#beyond.add(key);
      return;
    }
    this.#beyond.delete(key);
    try {
      const listener = await PortListener.open(nodePort, target, {
        ...this.#chance,
        times: this.#times,
        counted: (change) => this.#countConnection(change),
        failed: (port, error) => this.#events.failed(port, error),
      });
      entry.listener = listener;
      this.#refused.delete(key);
      this.#open++;
      this.#count(nodePort.family, 1);
      this.#events.opened(nodePort, target.endpoints.size);
    } catch (error) {
      this.#refused.add(key);
      this.#events.refused(nodePort, error as Error);
      this.#scheduleRetry();
    }
  }

  #remove(key: string, { nodePort, listener }: Entry): void {
    this.#entries.delete(key);
    this.#refused.delete(key);
    this.#beyond.delete(key);
    if (!listener) return;
    listener.close();
    this.#open--;
    this.#count(nodePort.family, -1);
    this.#events.closed(nodePort);
  }

  #scheduleRetry(): void {
    if (this.#closed || this.#retry) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#applied = this.#applied.then(() => this.#listenToWaiting(this.#refused));
    }, this.#retryIn).unref();
  }

  async #listenToWaiting(waiting: ReadonlySet<string>): Promise<void> {
    if (this.#open >= this.#mostListeners) return;
    for (const key of [...waiting]) {
      if (this.#open >= this.#mostListeners) return;
      const entry = this.#entries.get(key);
      if (this.#closed || !entry) continue;
      await this.#listen(key, entry);
    }
  }

  /** If there are too many connections, one of the listener with the most is closed. */
  #countConnection(change: 1 | -1): void {
    this.#connections += change;
    if (this.#connections <= this.#most) return;
    let fullest: PortListener | undefined;
    for (const { listener } of this.#entries.values())
      if (listener && listener.connections > (fullest?.connections ?? 0)) fullest = listener;
    fullest?.closeIdlest();
  }

  #closeIdle(): void {
    const now = this.#chance.now();
    for (const { listener } of this.#entries.values()) listener?.closeIdle(now);
  }

  #count(family: Family, change: number): void {
    const count = (this.#counts.get(family) ?? 0) + change;
    this.#counts.set(family, count);
    this.#events.listeners(family, count);
  }
}

function keyOf({ family, port }: NodePort): string {
  return `${family} ${port}`;
}
