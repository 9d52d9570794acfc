// HTTP listeners on the healthCheckNodePort of each Service, for each family. Load balancers ask them whether this node
// has endpoints of the Service.
import type { Family } from '../../kernel/net/address.js';
import { type Handler, json, type Response } from '../servers/handler.js';
import { type Listener, listen } from '../servers/listen.js';
import { RepeatedFailures } from '../servers/repeatedFailures.js';

/** The health check of a Service. */
export interface ServiceHealthCheck {
  /** The Service's `spec.healthCheckNodePort`. */
  readonly port: number;
  /** Number of distinct addresses of ready endpoints on this node, for each family of the Service's cluster IPs. */
  readonly localEndpoints: { readonly [family in Family]?: number };
}

/** Options of the listeners. */
interface ServiceHealthOptions {
  /** The local addresses that serve node ports, by family; absent: all of the family. */
  readonly addresses: { readonly [family in Family]?: readonly string[] };
  /** Whether the proxy is healthy, whether or not the node is eligible. */
  readonly healthy: () => boolean;
  /**
   * Called when a port cannot be opened: the first time, and then every five minutes while the reason is the same. The
   * next update retries. Also called when a handler throws.
   */
  readonly failed: (service: string, port: number, error: unknown) => void;
  /** Called when a port is opened after a failure. */
  readonly recovered?: (service: string, port: number) => void;
  /** Monotonic time, in ms; default performance.now(). */
  readonly now?: () => number;
}

interface Open {
  readonly port: number;
  readonly listeners: readonly Listener[];
  localEndpoints: number;
}

/** The listeners for all Services. */
export class ServiceHealthServers {
  readonly #options: ServiceHealthOptions;
  /** By `4 namespace/name`. */
  readonly #open = new Map<string, Open>();
  /** The health checks of all Services, by the same key. */
  readonly #wanted = new Map<string, Wanted>();
  /** Keys whose port is not open because it failed. */
  readonly #failing = new Set<string>();
  /** By key and port. */
  readonly #failures: RepeatedFailures;
  #work: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: ServiceHealthOptions) {
    this.#options = options;
    this.#failures = new RepeatedFailures(options.now);
  }

  /** Number of open health checks, counted by Service and family. */
  get size(): number {
    return this.#open.size;
  }

  /**
   * Opens and closes listeners for the changes, updates the counts, and retries failed ports. Updates run one after
   * another; never rejects.
   *
   * @param changes Services by `namespace/name`; undefined: the Service has no health check any more
   */
  update(changes: ReadonlyMap<string, ServiceHealthCheck | undefined>): Promise<void> {
    this.#work = this.#work.then(() => (this.#closed ? undefined : this.#update(changes)));
    return this.#work;
  }

  /** Closes all listeners; later updates do nothing. */
  close(): Promise<void> {
    this.#closed = true;
    this.#work = this.#work.then(() => this.#close([...this.#open.keys()]));
    return this.#work;
  }

  async #update(changes: ReadonlyMap<string, ServiceHealthCheck | undefined>): Promise<void> {
    const keys = new Set(this.#failing);
    for (const [service, check] of changes) {
      for (const family of [4, 6] as const) {
        const key = `${family} ${service}`;
        const count = check?.localEndpoints[family];
        if (check && count !== undefined) this.#wanted.set(key, { service, family, port: check.port, count });
        else this.#wanted.delete(key);
        keys.add(key);
      }
    }
    this.#failures.retain((name) => {
      const key = name.slice(0, name.lastIndexOf(' '));
      return nameOf(key, this.#wanted.get(key)) === name;
    });
    // First, because a port may move from one Service to another.
    await this.#close([...keys].filter((key) => this.#open.get(key)?.port !== this.#wanted.get(key)?.port));
    await Promise.all([...keys].map((key) => this.#openOrCount(key, this.#wanted.get(key))));
  }

  async #close(keys: readonly string[]): Promise<void> {
    const listeners = keys.flatMap((key) => this.#open.get(key)?.listeners ?? []);
    for (const key of keys) this.#open.delete(key);
    await Promise.all(listeners.map((listener) => listener.close()));
  }

  async #openOrCount(key: string, wanted: Wanted | undefined): Promise<void> {
    this.#failing.delete(key);
    if (!wanted) return;
    const { service, family, port, count } = wanted;
    const open = this.#open.get(key);
    if (open) {
      open.localEndpoints = count;
      return;
    }
    const opening: Open & { listeners: Listener[] } = { port, listeners: [], localEndpoints: count };
    const handler: Handler = () => respond(service, opening.localEndpoints, this.#options.healthy());
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
      // Open on all addresses or none: load balancers may use any of them.
      await Promise.all(opening.listeners.map((listener) => listener.close()));
      this.#failing.add(key);
      if (this.#failures.failed(nameOf(key, wanted), refused.reason)) failed(refused.reason);
    } else {
      this.#open.set(key, opening);
      if (this.#failures.succeeded(nameOf(key, wanted))) this.#options.recovered?.(service, port);
    }
  }
}

interface Wanted {
  readonly service: string;
  readonly family: Family;
  readonly port: number;
  readonly count: number;
}

function nameOf(key: string, wanted: Wanted | undefined): string {
  return `${key} ${wanted?.port}`;
}

function respond(service: string, localEndpoints: number, serviceProxyHealthy: boolean): Response {
  const [namespace, name] = service.split('/');
  const body = { service: { namespace, name }, localEndpoints, serviceProxyHealthy };
  return json(localEndpoints > 0 && serviceProxyHealthy ? 200 : 503, JSON.stringify(body, undefined, '\t'), {
    'X-Load-Balancing-Endpoint-Weight': `${localEndpoints}`,
  });
}
