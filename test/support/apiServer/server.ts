// A small API server on 127.0.0.1: lists in pages, watches with versions and bookmarks, and the faults of a network, an
// intermediate proxy or a failing server.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { type Fault, reset, send, sendStatus, sendTooLarge, statusObject, writePieces } from './answers.js';
import type { KeyPair } from './certificates.js';
import { faultsOfEvent } from './eventRules.js';
import {
  parseSelectors,
  type RawObject,
  type Selector,
  Store,
  type StoredEvent,
  seenThrough,
} from './store.js';

/** A received request. */
export interface SeenRequest {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Name of the client's certificate; empty for none. */
  readonly certificate: string;
}

/** Options of a server. */
export interface ApiServerOptions {
  /** Speaks TLS with this certificate. */
  readonly tls?: KeyPair;
  /** Authority of client certificates. */
  readonly clientCA?: string;
  /** Accepted tokens; undefined accepts all clients. A client certificate is also accepted. */
  readonly tokens?: Set<string>;
  /** Applies `limit` also with `resourceVersion=0`; a real server then sends all objects. */
  readonly pagesOld?: boolean;
  /** Prefix of the path of every request. */
  readonly prefix?: string;
  /** Time to wait for a requested version that does not exist, in ms; default 3000; 0: an old server without cache. */
  readonly versionWait?: number;
}

const KINDS: Readonly<Record<string, readonly [apiVersion: string, kind: string]>> = {
  '/api/v1/services': ['v1', 'Service'],
  '/api/v1/nodes': ['v1', 'Node'],
  '/apis/discovery.k8s.io/v1/endpointslices': ['discovery.k8s.io/v1', 'EndpointSlice'],
};

/** Duration of a watch without timeoutSeconds, in s: kube-apiserver's `--min-request-timeout`. */
const DEFAULT_WATCH = 1800;

interface Watcher {
  readonly path: string;
  readonly response: ServerResponse;
  readonly timer: NodeJS.Timeout;
  send(event: object): void;
}

/** A running server. */
export class ApiServer {
  readonly store = new Store();
  readonly requests: SeenRequest[] = [];
  /** The cache never reaches a requested version. */
  staysBehind = false;
  readonly #connections: Socket[] = [];
  readonly #options: ApiServerOptions;
  readonly #sockets = new Set<Socket>();
  readonly #watchers = new Set<Watcher>();
  readonly #faults: { readonly matches: RegExp; readonly fault: Fault }[] = [];
  #server: Server | undefined;
  #port = 0;
  #tls: KeyPair | undefined;
  #frozen = false;

  constructor(options: ApiServerOptions = {}) {
    this.#options = options;
    this.#tls = options.tls;
  }

  /** `https://127.0.0.1:PORT`, and the prefix. */
  get url(): string {
    return `${this.#tls ? 'https' : 'http'}://127.0.0.1:${this.#port}${this.#options.prefix ?? ''}`;
  }

  /** Number of connections so far. */
  get connectionsSeen(): number {
    return this.#connections.length;
  }

  /** Number of sent bytes so far, with headers and TLS. */
  get bytesSent(): number {
    return this.#connections.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
  }

  /** Listens; after {@link close}, on the same port. */
  async start(): Promise<this> {
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      this.#answer(request, response).catch((error) => response.destroy(error));
    };
    const { clientCA } = this.#options;
    const authentication = clientCA ? { ca: clientCA, requestCert: true, rejectUnauthorized: false } : {};
    const server: Server = this.#tls
      ? createTlsServer({ ...this.#tls, ...authentication }, answer)
      : createServer(answer);
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.#connections.push(socket);
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      // Clients may disconnect at any time.
      socket.on('error', () => {});
    });
    this.#frozen = false;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    return this;
  }

  /** Resets every connection and stops listening. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
    this.resetConnections();
    await closed;
  }

  /** Uses another certificate for new connections. */
  async rotate(tls: KeyPair): Promise<void> {
    await this.close();
    this.#tls = tls;
    await this.start();
  }

  /** Adds a fault for the next request whose line (`GET /api/v1/services?watch=true…`) matches. Faults queue. */
  fail(matches: RegExp, ...faults: Fault[]): void {
    for (const fault of faults) this.#faults.push({ matches, fault });
  }

  /** Number of faults that have not occurred yet. */
  get faultsLeft(): number {
    return this.#faults.length;
  }

  /** Resets every connection. */
  resetConnections(): void {
    for (const socket of this.#sockets) reset(socket);
  }

  /** Stops sending on open connections without closing them, as when a middlebox has lost their state. */
  freeze(): void {
    this.#frozen = true;
    for (const watcher of this.#watchers) {
      watcher.send = () => {};
      clearTimeout(watcher.timer);
    }
  }

  /** Responds to new requests again. */
  thaw(): void {
    this.#frozen = false;
  }

  /** Ends the watches of a path without an error. */
  endWatches(path: string): void {
    for (const watcher of this.#watchers) if (watcher.path === path) watcher.response.end();
  }

  /** Sends unmodified text over the watches of a path. */
  write(path: string, text: string): void {
    for (const watcher of this.#watchers) if (watcher.path === path) watcher.response.write(text);
  }

  /** Sends a bookmark over the watches of a path. */
  bookmark(path: string): void {
    const [apiVersion, kind] = KINDS[path] ?? [];
    const metadata = { resourceVersion: String(this.store.version) };
    for (const watcher of this.#watchers) {
      if (watcher.path === path) watcher.send({ type: 'BOOKMARK', object: { apiVersion, kind, metadata } });
    }
  }

  /** Number of open watches of a path. */
  watching(path: string): number {
    return [...this.#watchers].filter((watcher) => watcher.path === path).length;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#frozen) return;
    const seen = await this.#see(request);
    const line = `${seen.method} ${decodeURIComponent(request.url ?? '')}`;
    const index = this.#faults.findIndex(({ matches }) => matches.test(line));
    const fault = index < 0 ? undefined : this.#faults.splice(index, 1)[0]?.fault;
    if (fault && 'silent' in fault) return;
    if (fault && 'hangUp' in fault) return reset(request.socket);
    if (fault && 'status' in fault && fault.after) await wait(fault.after);
    if (fault && 'status' in fault) return sendStatus(response, fault.status, fault.reason, fault.retryAfter);
    if (!this.#letsIn(seen)) return sendStatus(response, 401, 'Unauthorized');
    const [, namespace] = /^\/apis\/events\.k8s\.io\/v1\/namespaces\/([^/]+)\/events$/.exec(seen.path) ?? [];
    if (seen.method === 'POST' && namespace !== undefined) {
      const broken = faultsOfEvent(seen.body, namespace);
      if (broken.length > 0) return sendStatus(response, 422, `Invalid: ${broken.join(', ')}`);
      return send(response, 201, seen.body, fault);
    }
    // Like a real server: all pages are of the same version of the list.
    if (seen.query['continue'] && seen.query['resourceVersion'])
      return sendStatus(response, 400, 'BadRequest');
    const kind = KINDS[seen.path];
    if (!kind || seen.method !== 'GET') return sendStatus(response, 404, 'NotFound');
    const selects = parseSelectors(seen.query['labelSelector'] ?? '', seen.query['fieldSelector'] ?? '');
    if (seen.query['watch'] === 'true') this.#watch(seen, kind[1], selects, response, fault);
    else if (await this.#reaches(seen.query)) this.#list(seen, kind, selects, response, fault);
    else {
      const [asked, current] = [Number(seen.query['resourceVersion']), this.store.version];
      // Only a server that waited sends Retry-After.
      sendTooLarge(response, { asked, current, retryAfter: this.#options.versionWait === 0 ? 0 : 1 });
    }
  }

  async #see(request: IncomingMessage): Promise<SeenRequest> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const url = new URL(request.url ?? '', 'http://server');
    const { socket } = request;
    const encrypted = socket instanceof TLSSocket && socket.authorized;
    const seen = {
      at: performance.now(),
      method: request.method ?? '',
      path: url.pathname.slice((this.#options.prefix ?? '').length),
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body,
      certificate: encrypted ? String(socket.getPeerCertificate().subject.CN) : '',
    };
    this.requests.push(seen);
    return seen;
  }

  /** Whether the minimum version of a list exists, possibly after some time. */
  async #reaches({ resourceVersion, resourceVersionMatch }: SeenRequest['query']): Promise<boolean> {
    if (resourceVersionMatch !== 'NotOlderThan') return true;
    const end = performance.now() + (this.#options.versionWait ?? 3_000);
    const reached = () => !this.staysBehind && this.store.version >= Number(resourceVersion);
    while (!reached() && performance.now() < end) await wait(5);
    return reached();
  }

  #letsIn({ headers, certificate }: SeenRequest): boolean {
    const { tokens } = this.#options;
    if (!tokens || certificate !== '') return true;
    return tokens.has(headers.authorization?.replace(/^Bearer /, '') ?? '');
  }

  #list(
    { query }: SeenRequest,
    [apiVersion, kind]: readonly [string, string],
    selects: Selector,
    response: ServerResponse,
    fault: Fault | undefined,
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
    const paged = query['resourceVersion'] !== '0' || this.#options.pagesOld;
    const limit = paged && query['limit'] ? Number(query['limit']) : all.length;
    const sent = fault && 'items' in fault ? fault.items : undefined;
    const items = all
      .slice(token.from, token.from + limit)
      .map(({ apiVersion: _, kind: __, ...item }) => item);
    const next =
      token.from + limit < all.length ? { from: token.from + limit, version: token.version } : undefined;
    const metadata = {
      resourceVersion: String(token.version),
      ...(next ? { continue: JSON.stringify(next) } : {}),
    };
    const body = JSON.stringify({ kind: `${kind}List`, apiVersion, metadata, items: sent ?? items });
    send(response, 200, body, fault);
  }

  #watch(
    { path, query }: SeenRequest,
    kind: string,
    selects: Selector,
    response: ServerResponse,
    fault: Fault | undefined,
  ): void {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.flushHeaders();
    const watcher: Watcher = {
      path,
      response,
      timer: setTimeout(() => response.end(), Number(query['timeoutSeconds'] ?? DEFAULT_WATCH) * 1000),
      send: (event) => response.write(`${JSON.stringify(event)}\n`),
    };
    if (fault && 'garbage' in fault) response.write(fault.garbage);
    if (fault && ('reset' in fault || 'cut' in fault)) {
      watcher.send = (event) => send(response, 200, `${JSON.stringify(event)}\n`, fault);
    }
    if (fault && 'pieces' in fault) {
      watcher.send = (event) =>
        writePieces(response, Buffer.from(`${JSON.stringify(event)}\n`), fault.pieces);
    }
    // A watch from a version that does not exist yet sends nothing until the store reaches it.
    let from = Number(query['resourceVersion']);
    const tell = (event: StoredEvent) => {
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
    for (const event of missed) tell(event);
    const stop = this.store.listen(tell);
    this.#watchers.add(watcher);
    response.on('close', () => {
      clearTimeout(watcher.timer);
      stop();
      this.#watchers.delete(watcher);
    });
  }
}

/** An object of a test's cluster. */
export type { RawObject };
