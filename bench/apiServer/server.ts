// A small API server on a loopback address, with the resources that a proxy follows: lists in pages, and watches with versions.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { encodeBody, sendStatus, sendTooLarge, statusObject } from './responses.js';
import { parseSelectors, type Selector, Store, type StoredEvent, seenThrough } from './store.js';

/** A received request. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An open watch. */
export interface Watcher {
  readonly path: string;
  readonly response: ServerResponse;
  /** Ends it after its time. */
  readonly timer: NodeJS.Timeout;
  send(event: object): void;
}

/** A resource: its API version and kind. */
export type Resource = readonly [apiVersion: string, kind: string];

/** The resources by path. */
export const RESOURCES: Readonly<Record<string, Resource>> = {
  '/api/v1/services': ['v1', 'Service'],
  '/api/v1/nodes': ['v1', 'Node'],
  '/apis/discovery.k8s.io/v1/endpointslices': ['discovery.k8s.io/v1', 'EndpointSlice'],
  '/apis/networking.k8s.io/v1/servicecidrs': ['networking.k8s.io/v1', 'ServiceCIDR'],
};

/** Duration of a watch without timeoutSeconds, in s: kube-apiserver's `--min-request-timeout`. */
const DEFAULT_WATCH = 1800;

/** A running server. A change of its store is sent over the watches at once. */
export class ApiServer {
  readonly store = new Store();
  protected readonly watchers = new Set<Watcher>();
  /** The address on which it listens. */
  protected readonly address: string = '127.0.0.1';
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  /** `http://ADDRESS:PORT`. */
  get url(): string {
    return `http://${this.address}:${this.#port}`;
  }

  /** Listens; after {@link close}, on the same port. */
  async start(): Promise<this> {
    const server = this.makeServer((request, response) => {
      this.answer(request, response).catch((error) => response.destroy(error));
    });
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      // Clients may disconnect at any time.
      socket.on('error', () => {});
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.#port, this.address, resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    return this;
  }

  /** Ends every connection and stops listening. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
    // Not a reset: while Node.js shuts a connection down, that fails and leaves the handle open, and the process never ends.
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Number of open watches of a path. */
  watching(path: string): number {
    return [...this.watchers].filter((watcher) => watcher.path === path).length;
  }

  protected makeServer(answer: (request: IncomingMessage, response: ServerResponse) => void): Server {
    return createServer(answer);
  }

  /** Connections that are open. */
  protected get sockets(): ReadonlySet<Socket> {
    return this.#sockets;
  }

  protected async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.route(await this.receive(request), response);
  }

  protected async receive(request: IncomingMessage): Promise<ReceivedRequest> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const url = new URL(request.url ?? '', 'http://server');
    const query = Object.fromEntries(url.searchParams);
    return { method: request.method ?? '', path: url.pathname, query, body };
  }

  /** Lists, watches, single objects, and events (events.k8s.io/v1), which are accepted and not stored. */
  protected async route(request: ReceivedRequest, response: ServerResponse): Promise<void> {
    const { method, path, query, body } = request;
    if (method === 'POST' && EVENTS.test(path)) return this.sendBody(response, 201, body);
    // Like a real server: all pages are of the same version of the list.
    if (query['continue'] && query['resourceVersion']) return sendStatus(response, 400, 'BadRequest');
    if (method !== 'GET') return sendStatus(response, 404, 'NotFound');
    const resource = RESOURCES[path];
    if (!resource) return this.#get(path, response);
    const selects = parseSelectors(query['labelSelector'] ?? '', query['fieldSelector'] ?? '');
    if (query['watch'] === 'true') this.#watch(request, resource[1], selects, response);
    else if (await this.reaches(query)) this.#list(request, resource, selects, response);
    else {
      const [asked, current] = [Number(query['resourceVersion']), this.store.version];
      sendTooLarge(response, { asked, current, retryAfter: this.retryAfter });
    }
  }

  /** Whether the minimum version of a list exists. */
  protected async reaches({
    resourceVersion,
    resourceVersionMatch,
  }: ReceivedRequest['query']): Promise<boolean> {
    return resourceVersionMatch !== 'NotOlderThan' || this.store.version >= Number(resourceVersion);
  }

  /** The time after which a client may ask again for a version that does not exist, in s. */
  protected get retryAfter(): number {
    return 1;
  }

  /** Whether a list has pages: with `resourceVersion=0`, a real server sends all objects. */
  protected isPaged({ resourceVersion }: ReceivedRequest['query']): boolean {
    return resourceVersion !== '0';
  }

  /** The items of a list as they are sent. */
  protected sentItems(items: readonly unknown[], _response: ServerResponse): readonly unknown[] {
    return items;
  }

  protected sendBody(response: ServerResponse, status: number, body: string): void {
    const { bytes, headers } = encodeBody(response, body);
    response.writeHead(status, headers);
    response.end(bytes);
  }

  /** How the events of a watch are sent. */
  protected openWatch(response: ServerResponse): Watcher['send'] {
    return (event) => response.write(eventLine(event));
  }

  /** One object of a resource without namespaces: kube-proxy 1.30 reads its Node so. */
  #get(path: string, response: ServerResponse): void {
    const end = path.lastIndexOf('/');
    const [, kind] = RESOURCES[path.slice(0, end)] ?? [];
    const name = decodeURIComponent(path.slice(end + 1));
    const found = this.store.list(
      kind ?? '',
      ({ metadata }) => metadata.name === name && !metadata['namespace'],
    );
    if (found[0]) this.sendBody(response, 200, JSON.stringify(found[0]));
    else sendStatus(response, 404, 'NotFound');
  }

  #list(
    { query }: ReceivedRequest,
    [apiVersion, kind]: Resource,
    selects: Selector,
    response: ServerResponse,
  ): void {
    const token = query['continue']
      ? JSON.parse(query['continue'])
      : { from: 0, version: this.store.version };
    // Pages show the version of the first page. If the list has changed and its events are deleted, it is too old.
    if (token.version < this.store.version && this.store.since(token.version) === undefined) {
      sendStatus(response, 410, 'Expired');
      return;
    }
    const all = this.store.list(kind, selects);
    const limit = this.isPaged(query) && query['limit'] ? Number(query['limit']) : all.length;
    const items = all
      .slice(token.from, token.from + limit)
      .map(({ apiVersion: _, kind: __, ...item }) => item);
    const next =
      token.from + limit < all.length ? { from: token.from + limit, version: token.version } : undefined;
    const metadata = {
      resourceVersion: String(token.version),
      ...(next ? { continue: JSON.stringify(next) } : {}),
    };
    const list = { kind: `${kind}List`, apiVersion, metadata, items: this.sentItems(items, response) };
    this.sendBody(response, 200, JSON.stringify(list));
  }

  #watch({ path, query }: ReceivedRequest, kind: string, selects: Selector, response: ServerResponse): void {
    // The client has gone while its request was read.
    if (response.destroyed) return;
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.flushHeaders();
    const watcher: Watcher = {
      path,
      response,
      timer: setTimeout(() => response.end(), Number(query['timeoutSeconds'] ?? DEFAULT_WATCH) * 1000),
      send: this.openWatch(response),
    };
    // A watch from a version that does not exist yet sends nothing until the store reaches it.
    let from = Number(query['resourceVersion']);
    const report = (event: StoredEvent) => {
      if (event.version <= from) return;
      from = event.version;
      const seen = event.object.kind === kind ? seenThrough(selects, event) : undefined;
      if (seen && !response.writableEnded) watcher.send({ type: seen.type, object: seen.object });
    };
    const missed = this.store.since(Number(query['resourceVersion']));
    if (!missed) {
      watcher.send({ type: 'ERROR', object: statusObject(410, 'Expired') });
      clearTimeout(watcher.timer);
      response.end();
      return;
    }
    for (const event of missed) report(event);
    const stop = this.store.listen(report);
    this.watchers.add(watcher);
    response.on('close', () => {
      clearTimeout(watcher.timer);
      stop();
      this.watchers.delete(watcher);
    });
  }
}

const EVENTS = /^\/apis\/events\.k8s\.io\/v1\/namespaces\/[^/]+\/events$/;

/** An event of a watch as it is sent. */
export function eventLine(event: object): string {
  return `${JSON.stringify(event)}\n`;
}
