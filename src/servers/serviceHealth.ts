// One HTTP listener per Service and family that has a healthCheckNodePort: load balancers ask it whether this node has
// endpoints of the Service.
import type { Family } from '../net/address.js';
import { type Answer, type Handler, json } from './answer.js';
import { type Listener, listen } from './listen.js';
import { RepeatedFailures } from './repeatedFailures.js';

/** What load balancers ask about one Service. */
export interface ServiceHealthCheck {
  /** The Service's `spec.healthCheckNodePort`. */
  readonly port: number;
  /** Distinct addresses of ready endpoints on this node, for each family in which the Service has a cluster IP. */
  readonly localEndpoints: { readonly [family in Family]?: number };
}

/** How the listeners of Services are opened. */
export interface ServiceHealthOptions {
  /** The node's addresses that node ports stand on, by family; absent: all of the family. */
  readonly addresses: { readonly [family in Family]?: readonly string[] };
  /** Whether the proxy is healthy; the node need not be eligible. */
  readonly healthy: () => boolean;
  /**
   * A port could not be opened, and is tried again at the next sync: called once, and then once in five minutes for as
   * long as it fails for the same reason. Also called for a handler that threw.
   */
  readonly failed: (service: string, port: number, error: unknown) => void;
  /** A port was opened that could not be before. */
  readonly recovered?: (service: string, port: number) => void;
  /** Time of a clock that never jumps, in ms; default performance.now(). */
  readonly now?: () => number;
}

interface Open {
  readonly port: number;
  readonly listeners: readonly Listener[];
  localEndpoints: number;
}

/** The listeners of all Services. */
export class ServiceHealthServers {
  readonly #options: ServiceHealthOptions;
  /** By `4 namespace/name`. */
  readonly #open = new Map<string, Open>();
  /** By key and port. */
  readonly #failures: RepeatedFailures;
  #work: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: ServiceHealthOptions) {
    this.#options = options;
    this.#failures = new RepeatedFailures(options.now);
  }

  /** How many Services, counted by family, are listened for. */
  get size(): number {
    return this.#open.size;
  }

  /**
   * Opens and closes what differs, and takes in the counts. One sync after another; never rejects.
   *
   * @param desired every Service with a health-check port, by `namespace/name`
   */
  sync(desired: ReadonlyMap<string, ServiceHealthCheck>): Promise<void> {
    this.#work = this.#work.then(() => (this.#closed ? undefined : this.#sync(desired)));
    return this.#work;
  }

  /** Closes all listeners; later syncs do nothing. */
  close(): Promise<void> {
    this.#closed = true;
    this.#work = this.#work.then(() => this.#closeUnless(() => false));
    return this.#work;
  }

  async #sync(desired: ReadonlyMap<string, ServiceHealthCheck>): Promise<void> {
    const wanted = new Map<string, Wanted>();
    for (const [service, { port, localEndpoints }] of desired) {
      for (const family of [4, 6] as const) {
        const count = localEndpoints[family];
        if (count !== undefined) wanted.set(`${family} ${service}`, { service, family, port, count });
      }
    }
    const names = new Set([...wanted].map(([key, { port }]) => `${key} ${port}`));
    this.#failures.retain((name) => names.has(name));
    // First, so that a port can pass from one Service to another.
    await this.#closeUnless((key, { port }) => wanted.get(key)?.port === port);
    await Promise.all([...wanted].map(([key, one]) => this.#openOrCount(key, one)));
  }

  async #closeUnless(keep: (key: string, open: Open) => boolean): Promise<void> {
    const gone = [...this.#open].filter(([key, open]) => !keep(key, open));
    for (const [key] of gone) this.#open.delete(key);
    await Promise.all(gone.flatMap(([, { listeners }]) => listeners.map((listener) => listener.close())));
  }

  async #openOrCount(key: string, { service, family, port, count }: Wanted): Promise<void> {
    const open = this.#open.get(key);
    if (open) {
      open.localEndpoints = count;
      return;
    }
    const opening: Open & { listeners: Listener[] } = { port, listeners: [], localEndpoints: count };
    const handler: Handler = () => answer(service, opening.localEndpoints, this.#options.healthy());
    const failed = (error: unknown) => this.#options.failed(service, port, error);
    const hosts = this.#options.addresses[family] ?? [family === 4 ? '0.0.0.0' : '::'];
    const results = await Promise.allSettled(
      hosts.map((address) => listen({ address, port, only: family }, handler, failed)),
    );
    for (const result of results) {
      if (result.status === 'fulfilled') opening.listeners.push(result.value);
    }
    const refused = results.find((result) => result.status === 'rejected');
    if (refused) {
      // All of its addresses or none: load balancers may ask any of them.
      await Promise.all(opening.listeners.map((listener) => listener.close()));
      if (this.#failures.failed(`${key} ${port}`, refused.reason)) failed(refused.reason);
    } else {
      this.#open.set(key, opening);
      if (this.#failures.succeeded(`${key} ${port}`)) this.#options.recovered?.(service, port);
    }
  }
}

interface Wanted {
  readonly service: string;
  readonly family: Family;
  readonly port: number;
  readonly count: number;
}

function answer(service: string, localEndpoints: number, serviceProxyHealthy: boolean): Answer {
  const [namespace, name] = service.split('/');
  const body = { service: { namespace, name }, localEndpoints, serviceProxyHealthy };
  return json(localEndpoints > 0 && serviceProxyHealthy ? 200 : 503, JSON.stringify(body, undefined, '\t'), {
    'X-Load-Balancing-Endpoint-Weight': `${localEndpoints}`,
  });
}
