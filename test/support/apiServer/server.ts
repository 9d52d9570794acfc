// A small API server on 127.0.0.1: lists in pages, watches with versions and bookmarks, and every fault that a network, a
// proxy in between or a server in trouble can show.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
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

/** Something that goes wrong with one request. */
export type Fault =
  /** An error instead of the answer, `after` so many ms. */
  | {
      readonly status: number;
      readonly reason?: string;
      readonly retryAfter?: number;
      readonly after?: number;
    }
  /** The connection is reset after so many bytes of the body, or of a watch's first event. */
  | { readonly reset: number }
  /** The body, or a watch's first event, ends in good order after so many bytes. */
  | { readonly cut: number }
  /** A watch: this is sent at its start. */
  | { readonly garbage: string }
  /** The body comes in pieces of so many bytes. */
  | { readonly pieces: number }
  /** Nothing comes after so many bytes of the body. */
  | { readonly stall: number }
  /** Nothing is ever answered. */
  | { readonly silent: true };

/** A request that came in. */
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
  /** Tokens that let in; undefined lets everybody in. A client certificate lets in, too. */
  readonly tokens?: Set<string>;
  /** Honours `limit` where `resourceVersion=0` is asked for; a real server sends everything then. */
  readonly pagesOld?: boolean;
  /** Path before that of every request. */
  readonly prefix?: string;
}

const KINDS: Readonly<Record<string, readonly [apiVersion: string, kind: string]>> = {
  '/api/v1/services': ['v1', 'Service'],
  '/api/v1/nodes': ['v1', 'Node'],
  '/apis/discovery.k8s.io/v1/endpointslices': ['discovery.k8s.io/v1', 'EndpointSlice'],
};

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
  /** Connections made so far. */
  connectionsSeen = 0;
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

  /** Listens; after {@link close} on the same port as before. */
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
      this.connectionsSeen++;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      // Clients go away as they please.
      socket.on('error', () => {});
    });
    this.#frozen = false;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    return this;
  }

  /** Resets every connection and listens no more. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
    this.resetConnections();
    await closed;
  }

  /** Uses another certificate for connections from now on. */
  async rotate(tls: KeyPair): Promise<void> {
    await this.close();
    this.#tls = tls;
    await this.start();
  }

  /** Has the next request whose line (`GET /api/v1/services?watch=true…`) matches go wrong. Faults queue. */
  fail(matches: RegExp, ...faults: Fault[]): void {
    for (const fault of faults) this.#faults.push({ matches, fault });
  }

  /** Faults that did not come about yet. */
  get faultsLeft(): number {
    return this.#faults.length;
  }

  /** Resets every connection. */
  resetConnections(): void {
    for (const socket of this.#sockets) reset(socket);
  }

  /** Open connections stay open, and nothing comes over them any more, as when a device on the way forgot them. */
  freeze(): void {
    this.#frozen = true;
    for (const watcher of this.#watchers) {
      watcher.send = () => {};
      clearTimeout(watcher.timer);
    }
  }

  /** New requests are answered again. */
  thaw(): void {
    this.#frozen = false;
  }

  /** Ends the watches of a path in good order. */
  endWatches(path: string): void {
    for (const watcher of this.#watchers) if (watcher.path === path) watcher.response.end();
  }

  /** Sends text as it is over the watches of a path. */
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

  /** Watches open on a path. */
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
    if (fault && 'status' in fault && fault.after) await wait(fault.after);
    if (fault && 'status' in fault) return sendStatus(response, fault.status, fault.reason, fault.retryAfter);
    if (!this.#letsIn(seen)) return sendStatus(response, 401, 'Unauthorized');
    const [, namespace] = /^\/apis\/events\.k8s\.io\/v1\/namespaces\/([^/]+)\/events$/.exec(seen.path) ?? [];
    if (seen.method === 'POST' && namespace !== undefined) {
      const broken = faultsOfEvent(seen.body, namespace);
      if (broken.length > 0) return sendStatus(response, 422, `Invalid: ${broken.join(', ')}`);
      return send(response, 201, seen.body, fault);
    }
    // As a real server: a page is of the list that the first one was of.
    if (seen.query['continue'] && seen.query['resourceVersion'])
      return sendStatus(response, 400, 'BadRequest');
    const kind = KINDS[seen.path];
    if (!kind || seen.method !== 'GET') return sendStatus(response, 404, 'NotFound');
    const selects = parseSelectors(seen.query['labelSelector'] ?? '', seen.query['fieldSelector'] ?? '');
    if (seen.query['watch'] === 'true') this.#watch(seen, kind[1], selects, response, fault);
    else this.#list(seen, kind, selects, response, fault);
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
    // What a page shows is the list as it was at the first one; once it has changed and that is forgotten, it is too old.
    if (token.version < this.store.version && this.store.since(token.version) === undefined) {
      sendStatus(response, 410, 'Expired');
      return;
    }
    const all = this.store.list(kind, selects);
    const paged = query['resourceVersion'] !== '0' || this.#options.pagesOld;
    const limit = paged && query['limit'] ? Number(query['limit']) : all.length;
    const items = all
      .slice(token.from, token.from + limit)
      .map(({ apiVersion: _, kind: __, ...item }) => item);
    const next =
      token.from + limit < all.length ? { from: token.from + limit, version: token.version } : undefined;
    const metadata = {
      resourceVersion: String(token.version),
      ...(next ? { continue: JSON.stringify(next) } : {}),
    };
    const body = JSON.stringify({ kind: `${kind}List`, apiVersion, metadata, items });
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
      timer: setTimeout(() => response.end(), Number(query['timeoutSeconds']) * 1000),
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
    const tell = (event: StoredEvent) => {
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

/** Sends a body, or as much of it as the fault lets through. */
function send(response: ServerResponse, status: number, body: string, fault: Fault | undefined): void {
  if (!response.headersSent) response.writeHead(status, { 'Content-Type': 'application/json' });
  const bytes = Buffer.from(body);
  if (fault && 'reset' in fault) {
    response.write(bytes.subarray(0, fault.reset), () => response.socket && reset(response.socket));
  } else if (fault && 'cut' in fault) {
    response.end(bytes.subarray(0, fault.cut));
  } else if (fault && 'stall' in fault) {
    response.write(bytes.subarray(0, fault.stall));
  } else if (fault && 'pieces' in fault) {
    writePieces(response, bytes, fault.pieces);
    response.end();
  } else {
    response.end(bytes);
  }
}

/** Each piece is a chunk of HTTP, and comes to a reader by itself. */
function writePieces(response: ServerResponse, bytes: Buffer, size: number): void {
  for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size));
}

function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

function sendStatus(response: ServerResponse, code: number, reason = '', retryAfter?: number): void {
  response.writeHead(code, retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) });
  response.end(JSON.stringify(statusObject(code, reason)));
}

function statusObject(code: number, reason: string): object {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: `refused with ${code}`,
    reason,
    code,
  };
}

/** An object that a test's cluster holds. */
export type { RawObject };
