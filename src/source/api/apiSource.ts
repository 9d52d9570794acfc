// Objects from the API server.
import type { Source, SourceEvents } from '../source.js';
import type { ApiClient } from './client.js';
import type { ApiError } from './error.js';
import { Reflector, type ReflectorTimes } from './reflector.js';
import { ENDPOINT_SLICES, nodes, type Resource, SERVICES } from './resources.js';
import { Shared } from './shared.js';

/** A request that failed, or whose answer made no sense. What was known before still stands. */
export interface ApiTrouble {
  readonly resource: Resource['name'];
  readonly error: ApiError;
  /** Ms until it is tried again. */
  readonly retryIn: number;
}

/** Options of an API source. */
export interface ApiSourceOptions {
  readonly client: Pick<ApiClient, 'list' | 'watch'>;
  /** Name of this node: its Node object is followed. */
  readonly nodeName: string;
  /** Follow every Node; default false. */
  readonly allNodes?: boolean;
  readonly trouble: (trouble: ApiTrouble) => void;
  readonly times?: Partial<ReflectorTimes>;
  /** Numbers from 0 up to 1; default Math.random. */
  readonly random?: () => number;
}

/** Services, EndpointSlices and the Node, as the API server has them. */
export class ApiSource implements Source {
  readonly #options: ApiSourceOptions;
  readonly #end = new AbortController();

  constructor(options: ApiSourceOptions) {
    this.#options = options;
  }

  /**
   * Resolves once Services and EndpointSlices have been told, or the source was stopped. Never rejects: a server that
   * cannot be reached is tried again for as long as it takes, and `trouble` is told. The Node is not waited for.
   */
  start(events: SourceEvents): Promise<void> {
    const { nodeName, allNodes = false } = this.#options;
    const shared = new Shared();
    const barrier: Resource[] = [SERVICES, ENDPOINT_SLICES];
    const missing = new Set(barrier);
    return new Promise((resolve) => {
      this.#end.signal.addEventListener('abort', () => resolve(), { once: true });
      for (const resource of [...barrier, nodes(allNodes ? undefined : nodeName)]) {
        const listed = () => {
          if (!missing.delete(resource) || missing.size > 0) return;
          events.synced();
          resolve();
        };
        this.#reflect(resource, shared, events, listed);
      }
    });
  }

  stop(): void {
    this.#end.abort();
  }

  #reflect(resource: Resource, shared: Shared, events: SourceEvents, listed: () => void): void {
    const { client, trouble, times = {}, random = Math.random } = this.#options;
    const reflector = new Reflector({
      client,
      resource,
      shared,
      times,
      random,
      events: {
        changed: (changes) => events.changed(changes),
        problems: (problems) => events.problems(problems),
        listed,
        trouble: (error, retryIn) => trouble({ resource: resource.name, error, retryIn }),
      },
    });
    reflector.run(this.#end.signal);
  }
}
