// Objects from the API server.
import { setMaxListeners } from 'node:events';
import { checkObject } from '../../kernel/arguments.js';
import { checkArgument, object } from '../../kernel/shapes.js';
import { Interning } from '../objects/interning.js';
import type { Node } from '../objects/types.js';
import { SOURCE_EVENTS } from '../source/shapes.js';
import type { Source, SourceEvents } from '../source/source.js';
import { ApiClient, type ApiClientOptions } from './client.js';
import { Contact, type ResourceContact } from './contact.js';
import type { ApiError } from './error.js';
import { KubeConfigConnection, type KubeConfigParts } from './kubeConfigConnection.js';
import { type NodeCondition, NodeFeed } from './nodeFeed.js';
import { Reflector, type ReflectorEvents, type ReflectorTimes, TIMES } from './reflector.js';
import { ENDPOINT_SLICES, nodes, type Resource, SERVICE_CIDRS, SERVICES } from './resources.js';
import { KUBE_CONFIG, NODE_CONDITION, SOURCE_OPTIONS } from './shapes.js';

/** A request that failed, or whose answer was malformed. The objects that were known before are kept. */
export interface ApiTrouble {
  readonly resource: Resource['name'];
  readonly error: ApiError;
  /** Time until the next try, in ms. */
  readonly retryIn: number;
}

/** Options of an API source. */
export interface ApiSourceOptions {
  readonly client: Pick<ApiClient, 'list' | 'watch'>;
  /** Name of this node: its Node object is followed. */
  readonly nodeName: string;
  /** Follow every Node; default false. */
  readonly allNodes?: boolean;
  /** Follow ServiceCIDRs; default false. A server before Kubernetes 1.33 has none: it is asked again every ten minutes. */
  readonly serviceCIDRs?: boolean;
  readonly trouble: (trouble: ApiTrouble) => void;
  /** Called when the contact with the server for a resource is established, lost or found again. */
  readonly contact?: (contact: ResourceContact, before: ResourceContact) => void;
  readonly times?: Partial<ReflectorTimes>;
  /** Numbers from 0 up to 1; default Math.random. */
  readonly random?: () => number;
}

/** Options of a source that makes its client. */
export type KubeConfigSourceOptions = Omit<ApiSourceOptions, 'client'> & Partial<ApiClientOptions>;

const OPTIONS = object<ApiSourceOptions>(SOURCE_OPTIONS);
const CONDITION = object<Omit<NodeCondition, 'name'>>(NODE_CONDITION);

/** Services, EndpointSlices and the Node, as the API server has them. */
export class ApiSource implements Source {
  readonly #options: ApiSourceOptions;
  readonly #end = new AbortController();
  readonly #interning = new Interning();
  readonly #contacts: Contact[] = [];
  #nodes: NodeFeed | undefined;

  constructor(options: ApiSourceOptions) {
    checkArgument('ApiSource', 'options', options, OPTIONS);
    this.#options = options;
    // Each resource has a few: its watch, its pause, its request and its check.
    setMaxListeners(0, this.#end.signal);
  }

  /**
   * A source that reaches its server as a KubeConfig of @kubernetes/client-node says, with a client of its own. Throws an
   * Error if the KubeConfig names no server.
   */
  static fromKubeConfig(config: KubeConfigParts, options: KubeConfigSourceOptions): ApiSource {
    const operation = 'ApiSource.fromKubeConfig';
    checkArgument(operation, 'config', config, KUBE_CONFIG);
    checkObject(operation, 'options', options);
    const { userAgent = 'kube-netlink-proxy', rate, timeouts, ...others } = options;
    const client = new ApiClient(new KubeConfigConnection(config), {
      userAgent,
      ...(rate !== undefined && { rate }),
      ...(timeouts !== undefined && { timeouts }),
    });
    const source = new ApiSource({ ...others, client });
    source.#end.signal.addEventListener('abort', () => client.close(), { once: true });
    return source;
  }

  /**
   * Resolves once Services and EndpointSlices have been reported, or the source was stopped. Never rejects: a server that
   * cannot be reached is tried again for as long as it takes, and `trouble` is called. The Node and ServiceCIDRs are not waited for;
   * until this node's Node has been read, the objects are reported as incomplete.
   */
  async start(events: SourceEvents): Promise<void> {
    checkArgument('ApiSource.start', 'events', events, SOURCE_EVENTS);
    const barrier: Resource[] = [SERVICES, ENDPOINT_SLICES];
    const missing = new Set(barrier);
    return new Promise((resolve) => {
      this.#end.signal.addEventListener('abort', () => resolve(), { once: true });
      const nodes = this.#followNodes();
      // Calls never come from within the caller of `start`.
      queueMicrotask(() => {
        if (!this.#end.signal.aborted) nodes.deliver(events);
      });
      if (this.#options.serviceCIDRs) this.#reflect(SERVICE_CIDRS, events, () => {});
      for (const resource of barrier) {
        const listed = () => {
          if (!missing.delete(resource) || missing.size > 0) return;
          events.synced();
          resolve();
        };
        this.#reflect(resource, events, listed);
      }
    });
  }

  /**
   * Follows Nodes from now on, if it does not yet. Resolves to the Node of that name once it is ready, or as it is when the
   * time is over, the signal aborts or the source is stopped. The time counts from when the Nodes have been read: a server
   * that does not answer says nothing about the Node.
   */
  async waitForNode(
    condition: Omit<NodeCondition, 'name'>,
  ): Promise<{ node: Node | undefined; met: boolean }> {
    checkArgument('ApiSource.waitForNode', 'condition', condition, CONDITION);
    return this.#followNodes().wait({ ...condition, name: this.#options.nodeName });
  }

  stop(): void {
    this.#end.abort();
    for (const contact of this.#contacts) contact.close();
  }

  /** The contact with the server for each followed resource. */
  contacts(): ResourceContact[] {
    return this.#contacts.map(({ now }) => now);
  }

  #followNodes(): NodeFeed {
    if (this.#nodes) return this.#nodes;
    const { nodeName, allNodes = false } = this.#options;
    const feed = new NodeFeed(nodeName, this.#end.signal);
    this.#nodes = feed;
    this.#reflect(nodes(allNodes ? undefined : nodeName), feed, () => feed.listed());
    return feed;
  }

  #reflect(
    resource: Resource,
    events: Pick<ReflectorEvents, 'changed' | 'problems' | 'mended'>,
    listed: () => void,
  ): void {
    const { client, trouble, times = {}, random = Math.random } = this.#options;
    const changed = this.#options.contact ?? (() => {});
    const contact = new Contact(resource.name, changed, times.lost ?? TIMES.lost);
    this.#contacts.push(contact);
    if (this.#end.signal.aborted) contact.close();
    const reflector = new Reflector({
      client,
      resource,
      contact,
      interning: this.#interning,
      times,
      random,
      events: {
        changed: (changes) => events.changed(changes),
        problems: (problems) => events.problems(problems),
        mended: (problems) => events.mended?.(problems),
        listed,
        trouble: (error, retryIn) => trouble({ resource: resource.name, error, retryIn }),
      },
    });
    reflector.run(this.#end.signal);
  }
}
