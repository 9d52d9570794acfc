// The API server with what tests need: TLS, clients with credentials, records of requests, and the faults of a network, an
// intermediate proxy or a failing server.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { sendStatus } from '../../../bench/apiServer/responses.js';
import {
  eventLine,
  ApiServer as PlainServer,
  RESOURCES,
  type ReceivedRequest,
  type Watcher,
} from '../../../bench/apiServer/server.js';
import { type Fault, reset, sendDamaged, writePieces } from './answers.js';
import type { KeyPair } from './certificates.js';
import { faultsOfEvent } from './eventRules.js';
import { OWN_LOOPBACK } from './loopback.js';

/** A received request. */
export interface SeenRequest extends ReceivedRequest {
  readonly at: number;
  readonly headers: IncomingMessage['headers'];
  /** Name of the client's certificate; empty for none. */
  readonly certificate: string;
}

/** Options of a server. */
export interface ApiServerOptions {
  /** The address on which it listens; default: {@link OWN_LOOPBACK}. */
  readonly address?: string;
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

/** A running server. */
export class ApiServer extends PlainServer {
  readonly requests: SeenRequest[] = [];
  protected override readonly address: string;
  /** The cache never reaches a requested version. */
  staysBehind = false;
  readonly #connections: Socket[] = [];
  readonly #options: ApiServerOptions;
  readonly #faults: { readonly matches: RegExp; readonly fault: Fault }[] = [];
  /** The fault of every request whose line matches, until it is undefined. */
  lasting: { readonly matches: RegExp; readonly fault: Fault } | undefined;
  /** The faults of the responses under way. */
  readonly #faultOf = new WeakMap<ServerResponse, Fault>();
  #tls: KeyPair | undefined;
  #frozen = false;

  constructor(options: ApiServerOptions = {}) {
    super();
    this.#options = options;
    this.address = options.address ?? OWN_LOOPBACK;
    this.#tls = options.tls;
  }

  /** `https://ADDRESS:PORT`, and the prefix. */
  override get url(): string {
    const plain = super.url;
    return `${this.#tls ? plain.replace(/^http:/, 'https:') : plain}${this.#options.prefix ?? ''}`;
  }

  /** Number of connections so far. */
  get connectionsSeen(): number {
    return this.#connections.length;
  }

  /** Number of sent bytes so far, with headers and TLS. */
  get bytesSent(): number {
    return this.#connections.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
  }

  override start(): Promise<this> {
    this.#frozen = false;
    return super.start();
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
    for (const socket of this.sockets) reset(socket);
  }

  /** Stops sending on open connections without closing them, as when a middlebox has lost their state. */
  freeze(): void {
    this.#frozen = true;
    for (const watcher of this.watchers) {
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
    for (const watcher of this.watchers) if (watcher.path === path) watcher.response.end();
  }

  /** Sends unmodified text over the watches of a path. */
  write(path: string, text: string): void {
    for (const watcher of this.watchers) if (watcher.path === path) watcher.response.write(text);
  }

  /** Sends a bookmark over the watches of a path. */
  bookmark(path: string): void {
    const [apiVersion, kind] = RESOURCES[path] ?? [];
    const metadata = { resourceVersion: String(this.store.version) };
    for (const { path: watched, response, send } of this.watchers) {
      // One that was ended remains until its connection is closed.
      if (watched !== path || response.writableEnded) continue;
      send({ type: 'BOOKMARK', object: { apiVersion, kind, metadata } });
    }
  }

  protected override makeServer(
    answer: (request: IncomingMessage, response: ServerResponse) => void,
  ): Server {
    const { clientCA } = this.#options;
    const authentication = clientCA ? { ca: clientCA, requestCert: true, rejectUnauthorized: false } : {};
    const server: Server = this.#tls
      ? createTlsServer({ ...this.#tls, ...authentication }, answer)
      : createServer(answer);
    return server.on('connection', (socket: Socket) => this.#connections.push(socket));
  }

  protected override async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#frozen) return;
    const seen = await this.receive(request);
    this.requests.push(seen);
    const line = `${seen.method} ${decodeURIComponent(request.url ?? '')}`;
    const index = this.#faults.findIndex(({ matches }) => matches.test(line));
    const once = index < 0 ? undefined : this.#faults.splice(index, 1)[0]?.fault;
    const fault = once ?? (this.lasting?.matches.test(line) ? this.lasting.fault : undefined);
    if (fault && 'silent' in fault) return;
    if (fault && 'hangUp' in fault) return reset(request.socket);
    if (fault && 'status' in fault && fault.after) await wait(fault.after);
    if (fault && 'status' in fault) return sendStatus(response, fault.status, fault.reason, fault.retryAfter);
    if (!this.#letsIn(seen)) return sendStatus(response, 401, 'Unauthorized');
    if (fault) this.#faultOf.set(response, fault);
    const [, namespace] = /^\/apis\/events\.k8s\.io\/v1\/namespaces\/([^/]+)\/events$/.exec(seen.path) ?? [];
    if (seen.method === 'POST' && namespace !== undefined) {
      // kube-proxy sends protobuf first.
      if (!/\bjson\b/.test(seen.headers['content-type'] ?? ''))
        return sendStatus(response, 415, 'UnsupportedMediaType');
      const broken = faultsOfEvent(seen.body, namespace);
      if (broken.length > 0) return sendStatus(response, 422, `Invalid: ${broken.join(', ')}`);
    }
    return this.route(seen, response);
  }

  protected override async receive(request: IncomingMessage): Promise<SeenRequest> {
    const { socket } = request;
    const at = performance.now();
    const received = await super.receive(request);
    const encrypted = socket instanceof TLSSocket && socket.authorized;
    return {
      ...received,
      at,
      path: received.path.slice((this.#options.prefix ?? '').length),
      headers: request.headers,
      certificate: encrypted ? String(socket.getPeerCertificate().subject.CN) : '',
    };
  }

  /** Whether the minimum version of a list exists, possibly after some time. */
  protected override async reaches(query: ReceivedRequest['query']): Promise<boolean> {
    if (query['resourceVersionMatch'] !== 'NotOlderThan') return true;
    const end = performance.now() + (this.#options.versionWait ?? 3_000);
    const reached = async () => !this.staysBehind && (await super.reaches(query));
    while (!(await reached()) && performance.now() < end) await wait(5);
    return reached();
  }

  /** Only a server that waited sends Retry-After. */
  protected override get retryAfter(): number {
    return this.#options.versionWait === 0 ? 0 : 1;
  }

  protected override isPaged(query: ReceivedRequest['query']): boolean {
    return this.#options.pagesOld || super.isPaged(query);
  }

  protected override sentItems(items: readonly unknown[], response: ServerResponse): readonly unknown[] {
    const fault = this.#faultOf.get(response);
    return fault && 'items' in fault ? fault.items : items;
  }

  protected override sendBody(response: ServerResponse, status: number, body: string): void {
    const fault = this.#faultOf.get(response);
    if (fault) sendDamaged(response, status, body, fault);
    else super.sendBody(response, status, body);
  }

  protected override openWatch(response: ServerResponse): Watcher['send'] {
    const fault = this.#faultOf.get(response);
    if (fault && 'garbage' in fault) response.write(fault.garbage);
    if (fault && ('reset' in fault || 'cut' in fault)) {
      return (event) => sendDamaged(response, 200, eventLine(event), fault);
    }
    if (fault && 'pieces' in fault) {
      return (event) => writePieces(response, Buffer.from(eventLine(event)), fault.pieces);
    }
    return super.openWatch(response);
  }

  #letsIn({ headers, certificate }: SeenRequest): boolean {
    const { tokens } = this.#options;
    if (!tokens || certificate !== '') return true;
    return tokens.has(headers.authorization?.replace(/^Bearer /, '') ?? '');
  }
}
