// HTTP requests and responses as plain data, without sockets, and the routing by path.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** A request whose headers have been read. */
export interface Request {
  readonly method: string;
  /** Decoded, without the query: `/healthz`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The client is a process in the server's network namespace; see {@link isOnHost}. */
  readonly onHost: boolean;
  /** Reads the body as UTF-8. Rejects with {@link BadRequest} if it is longer than 64 KiB or incomplete. */
  body(): Promise<string>;
  /** Aborted when the client disconnects before the response, or when the server is closed. */
  readonly signal: AbortSignal;
}

/** A response. `Content-Length` is added if the body is text. */
export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is destroyed when the client disconnects or stops reading. */
  readonly body: string | Readable;
}

/** Responds to requests. If it throws, the status is 400 for a {@link BadRequest}, otherwise 500. */
export type Handler = (request: Request) => Response | Promise<Response>;

/** Invalid input; the response is 400 with the message. */
export class BadRequest extends Error {}

/** Text with the headers of Go's `http.Error`; no newline is appended. */
export function plain(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return {
    status,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff', ...headers },
    body: text,
  };
}

/** JSON that is already encoded. */
export function json(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response {
  return {
    status,
    headers: { 'Content-Type': 'application/json', 'X-Content-Type-Options': 'nosniff', ...headers },
    body: text,
  };
}

/** Serves only clients on this host. The response to others is 403 and says so. */
export function onlyOnHost(handler: Handler): Handler {
  return (request) =>
    request.onHost ? handler(request) : plain(403, 'this page is only for clients on the node\n');
}

/** Loopback addresses; a socket for both families shows IPv4 addresses as mapped ones. */
const LOOPBACK = /^(::ffff:)?127\.|^::1$/;

/**
 * Whether a connection comes from the host itself: from a loopback address, or from the address that it was opened to. The
 * kernel drops packets from outside that claim to come from an address of its own.
 *
 * @param remote the client's address; undefined after it has disconnected
 * @param local the server's address of the connection
 */
export function isOnHost(remote: string | undefined, local: string | undefined): boolean {
  return remote !== undefined && (remote === local || LOOPBACK.test(remote));
}

/** The response of Go's mux for an unknown path. */
const NOT_FOUND: Response = plain(404, '404 page not found\n');

/** Routes each path to its handler, for any method. A path that ends in `/` also handles the paths below it. */
export function routes(table: Readonly<Record<string, Handler>>): Handler {
  const exact = new Map(Object.entries(table));
  const below = [...exact].filter(([path]) => path.endsWith('/'));
  return (request) => {
    const handler = exact.get(request.path) ?? below.find(([path]) => request.path.startsWith(path))?.[1];
    return handler ? handler(request) : NOT_FOUND;
  };
}
