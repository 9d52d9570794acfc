// Between sockets and handlers: reads requests, sends answers, and keeps slow or broken clients from holding anything for
// long. A handler that throws is answered with 500 and told; nothing of it reaches the process.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type Answer, BadRequest, type Handler, plain, type Request } from './answer.js';

/** How long clients may take, ms, and how many there may be. */
export interface Limits {
  /** Until the headers have arrived. */
  readonly headers: number;
  /** Until the whole request has arrived. */
  readonly request: number;
  /** Without reading any of an answer that waits to be sent. */
  readonly stalled: number;
  /** Between two requests of one connection: longer than probes and scrapes are apart. */
  readonly idle: number;
  /** How often `headers` and `request` are looked at. */
  readonly check: number;
  /** Connections of one socket; further ones are closed as they come, and all idle ones with them. */
  readonly connections: number;
}

/** What all servers allow unless told otherwise. */
export const LIMITS: Limits = {
  headers: 10_000,
  request: 30_000,
  stalled: 30_000,
  idle: 120_000,
  check: 30_000,
  connections: 256,
};

/** Longest body of a request that is read, bytes. */
const LONGEST_BODY = 65_536;

/** An HTTP server that listens nowhere yet. `failed` is told of handlers that threw. */
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
    (request, response) => {
      respond(handler, request, response, failed, limits).catch((error) => {
        response.destroy();
        failed(error);
      });
    },
  );
  server.maxConnections = limits.connections;
  // Whoever is turned away finds room at the next try.
  server.on('drop', () => server.closeIdleConnections());
  return server;
}

async function respond(
  handler: Handler,
  incoming: IncomingMessage,
  response: ServerResponse,
  failed: (error: unknown) => void,
  limits: Limits,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const answer = await answerOf(handler, incoming, gone.signal, failed);
  if (gone.signal.aborted) {
    if (typeof answer.body !== 'string') answer.body.destroy();
    return;
  }
  // Only now: what a handler takes is not the client's fault.
  incoming.socket.setTimeout(limits.stalled);
  await send(answer, incoming.method === 'HEAD', response);
}

async function answerOf(
  handler: Handler,
  incoming: IncomingMessage,
  signal: AbortSignal,
  failed: (error: unknown) => void,
): Promise<Answer> {
  try {
    return await handler(readRequest(incoming, signal));
  } catch (error) {
    if (error instanceof BadRequest) return plain(400, `${error.message}\n`);
    if (!signal.aborted) failed(error);
    return plain(500, 'internal error\n');
  }
}

async function send(answer: Answer, headersOnly: boolean, response: ServerResponse): Promise<void> {
  // Go's servers send neither this nor Keep-Alive; HTTP/1.1 connections persist without.
  response.removeHeader('Connection');
  const { body } = answer;
  if (typeof body === 'string') {
    response.writeHead(answer.status, { ...answer.headers, 'Content-Length': Buffer.byteLength(body) });
    response.end(body);
    return;
  }
  response.writeHead(answer.status, answer.headers);
  if (headersOnly) {
    body.destroy();
    response.end();
    return;
  }
  // A client that goes away, or reads so slowly that its socket is closed, ends the stream: no fault of ours.
  let left = false;
  response.once('close', () => {
    left = body.errored === null;
  });
  await pipeline(body, response).catch((error) => {
    if (!left) throw error;
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
    body: () => readBody(incoming),
    signal,
  };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Clients of a forward proxy name the whole URL. */
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
