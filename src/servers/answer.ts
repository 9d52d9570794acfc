// What a path answers, apart from sockets: requests and answers as plain data, and a table of paths.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** A request, read as far as its headers. */
export interface Request {
  readonly method: string;
  /** Decoded, without the query: `/healthz`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Reads the body as UTF-8. Rejects with {@link BadRequest} when it is longer than 64 KiB or cut short. */
  body(): Promise<string>;
  /** Aborted when the client went away before it was answered, or the server is closed. */
  readonly signal: AbortSignal;
}

/** An answer. `Content-Length` is added where the body is text. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is destroyed when the client goes away or stops reading. */
  readonly body: string | Readable;
}

/** Answers requests. What it throws is answered with 500, or 400 if it is a {@link BadRequest}. */
export type Handler = (request: Request) => Answer | Promise<Answer>;

/** Thrown for input that breaks a rule: answered with 400 and the message. */
export class BadRequest extends Error {}

/** Text, as Go's `http.Error` sends it; the text ends as given. */
export function plain(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff', ...headers },
    body: text,
  };
}

/** JSON text, ready made. */
export function json(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    headers: { 'Content-Type': 'application/json', 'X-Content-Type-Options': 'nosniff', ...headers },
    body: text,
  };
}

/** What Go's mux answers for a path that nobody serves. */
const NOT_FOUND: Answer = plain(404, '404 page not found\n');

/** A handler for each path, for any method; a path that ends in `/` serves all below it that have no handler of their own. */
export function routes(table: Readonly<Record<string, Handler>>): Handler {
  const exact = new Map(Object.entries(table));
  const below = [...exact].filter(([path]) => path.endsWith('/'));
  return (request) => {
    const handler = exact.get(request.path) ?? below.find(([path]) => request.path.startsWith(path))?.[1];
    return handler ? handler(request) : NOT_FOUND;
  };
}
