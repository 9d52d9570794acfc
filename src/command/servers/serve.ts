// The HTTP server: reads requests, calls handlers, sends responses, and closes the connections of slow clients. If a
// handler throws, the response is 500 and the error is reported; it never ends the process.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { BadRequest, type Handler, isOnHost, plain, type Request, type Response } from './handler.js';

/** Time limits for clients, in ms, and the maximum number of connections. */
export interface Limits {
  /** Until the headers have arrived. */
  readonly headers: number;
  /** Until the whole request has arrived. */
  readonly request: number;
  /** Without reading while a response waits to be sent. */
  readonly stalled: number;
  /** Between two requests on a connection; longer than the period of probes and scrapes. */
  readonly idle: number;
  /** Interval at which `headers` and `request` are checked. */
  readonly check: number;
  /**
   * Per listening socket. A further connection takes the place of another: of the client address that has most of them,
   * the oldest one that is idle or whose request is incomplete.
   */
  readonly connections: number;
}

/** The default limits. */
export const LIMITS: Limits = {
  headers: 10_000,
  request: 30_000,
  stalled: 30_000,
  idle: 120_000,
  check: 5000,
  connections: 256,
};

/** Maximum size of a request body, in bytes. */
const LONGEST_BODY = 65_536;

/** An HTTP server that does not listen yet. `failed` is called with the errors of handlers. */
export function createHttpServer(
  handler: Handler,
  failed: (error: unknown) => void,
  limits: Limits = LIMITS,
): Server {
  const server = createServer(
    {
      headersTimeout: limits.headers,
      requestTimeout: limits.request,
      keepAliveTimeout: limits.idle,
      connectionsCheckingInterval: limits.check,
    },
    (request, outgoing) => {
      respond(handler, request, outgoing, failed, limits).catch((error) => {
        outgoing.destroy();
        failed(error);
      });
    },
  );
  new Connections(server, limits.connections);
  return server;
}

async function respond(
  handler: Handler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  failed: (error: unknown) => void,
  limits: Limits,
): Promise<void> {
  const disconnected = new AbortController();
  outgoing.once('close', () => disconnected.abort());
  const response = await responseOf(handler, incoming, disconnected.signal, failed);
  if (disconnected.signal.aborted) {
    if (typeof response.body !== 'string') response.body.destroy();
    return;
  }
  // Not before: the handler's time does not count.
  incoming.socket.setTimeout(limits.stalled);
  await send(response, incoming.method === 'HEAD', outgoing);
}

async function responseOf(
  handler: Handler,
  incoming: IncomingMessage,
  signal: AbortSignal,
  failed: (error: unknown) => void,
): Promise<Response> {
  try {
    return await handler(readRequest(incoming, signal));
  } catch (error) {
    if (error instanceof BadRequest) return plain(400, `${error.message}\n`);
    if (!signal.aborted) failed(error);
    return plain(500, 'internal error\n');
  }
}

async function send(response: Response, headersOnly: boolean, outgoing: ServerResponse): Promise<void> {
  // Go's servers send neither this header nor Keep-Alive: HTTP/1.1 connections are persistent anyway.
  outgoing.removeHeader('Connection');
  const { body } = response;
  if (typeof body === 'string') {
    outgoing.writeHead(response.status, { ...response.headers, 'Content-Length': Buffer.byteLength(body) });
    outgoing.end(body);
    return;
  }
  outgoing.writeHead(response.status, response.headers);
  if (headersOnly) {
    body.destroy();
    outgoing.end();
    return;
  }
  // If the client disconnects, or is closed because it reads too slowly, the stream's error is not ours.
  let byClient = false;
  outgoing.once('close', () => {
    byClient = body.errored === null;
  });
  await pipeline(body, outgoing).catch((error) => {
    if (!byClient) throw error;
  });
}

function readRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const target = incoming.url ?? '/';
  const [rawPath = '', rawQuery = ''] = splitOnce(withoutOrigin(target), '?');
  return {
    method: incoming.method ?? 'GET',
    path: decodePath(rawPath),
    query: new URLSearchParams(rawQuery),
    headers: incoming.headers,
    onHost: isOnHost(incoming.socket.remoteAddress, incoming.socket.localAddress),
    body: () => readBody(incoming),
    signal,
  };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** The path and query of a target; clients of a forward proxy send the whole URL. */
function withoutOrigin(target: string): string {
  return /^https?:\/\/[^/?]*(.*)$/i.exec(target)?.[1] || target;
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new BadRequest(`the path ${JSON.stringify(path)} is not percent-encoded UTF-8`);
  }
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += part.length;
      if (length > LONGEST_BODY) break;
      parts.push(part);
    }
  } catch {
    throw new BadRequest('the body was cut short');
  }
  if (length > LONGEST_BODY) throw new BadRequest(`the body must not be longer than ${LONGEST_BODY} bytes`);
  return Buffer.concat(parts).toString('utf8');
}

// The open connections of an HTTP server. If there are too many, one of the client address with the most is closed, so
// that a new client is always served.

/** An open connection. */
interface Connection {
  readonly socket: Socket;
  /** The client's address. */
  readonly source: string;
  /** Whether the connection is between two requests, sends one, or waits for a response. */
  state: 'idle' | 'reading' | 'responding';
}

/** The states in the order in which their connections are closed for others. */
const ORDER: readonly Connection['state'][] = ['idle', 'reading', 'responding'];

/** Limits the number of a server's open connections. */
class Connections {
  readonly #most: number;
  /** Open connections, the oldest first. */
  readonly #open = new Map<Socket, Connection>();
  /** Number of open connections by client address. */
  readonly #counts = new Map<string, number>();

  /** @param most maximum number of open connections */
  constructor(server: Server, most: number) {
    this.#most = most;
    server.on('connection', (socket: Socket) => this.#add(socket));
    server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) =>
      this.#follow(incoming, outgoing),
    );
  }

  #add(socket: Socket): void {
    // Undefined: the client has disconnected already.
    const connection: Connection = { socket, source: socket.remoteAddress ?? '', state: 'reading' };
    this.#open.set(socket, connection);
    this.#counts.set(connection.source, (this.#counts.get(connection.source) ?? 0) + 1);
    socket.once('close', () => this.#remove(connection));
    if (this.#open.size > this.#most) {
      const victim = this.#victim(connection);
      this.#remove(victim);
      victim.socket.destroy();
    }
  }

  #remove({ socket, source }: Connection): void {
    if (!this.#open.delete(socket)) return;
    const left = (this.#counts.get(source) ?? 0) - 1;
    if (left > 0) this.#counts.set(source, left);
    else this.#counts.delete(source);
  }

  #follow(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const connection = this.#open.get(incoming.socket);
    if (!connection) return;
    // A request is announced before its body has arrived.
    const { 'content-length': length, 'transfer-encoding': encoding } = incoming.headers;
    const hasBody = encoding !== undefined || (length !== undefined && length !== '0');
    connection.state = hasBody ? 'reading' : 'responding';
    if (hasBody) {
      incoming.once('end', () => {
        if (!outgoing.closed) connection.state = 'responding';
      });
    }
    outgoing.once('close', () => {
      connection.state = 'idle';
    });
  }

  /**
   * The connection to close: of the addresses with the most connections, the oldest one that waits for its client. One
   * that waits for a response is closed only if there is no other.
   */
  #victim(newest: Connection): Connection {
    const others = [...this.#open.values()].filter((connection) => connection !== newest);
    const most = Math.max(...this.#counts.values());
    const crowded = others.filter(({ source }) => this.#counts.get(source) === most);
    for (const candidates of [crowded, others]) {
      for (const state of ORDER) {
        const found = candidates.find((connection) => connection.state === state);
        if (found && (found.state !== 'responding' || candidates === others)) return found;
      }
    }
    return newest;
  }
}
