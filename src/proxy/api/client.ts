// The few requests that a proxy makes of the API server, over HTTP/1.1 and in JSON.
import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { checkArgument, object, partOf } from '../../kernel/shapes.js';
import { TimeSlice } from '../../kernel/timeSlice.js';
import { isRecord } from '../input/fields.js';
import { Agents } from './agents.js';
import { piecesOf } from './body.js';
import type { ApiConnection } from './connection.js';
import { ApiError, asApiError, refusalText } from './error.js';
import { LineReader, ListReader } from './json.js';
import { type RATE, RateLimit } from './rateLimit.js';
import { BODY, CALLBACK, CLIENT_OPTIONS, CONNECTION, PATH, QUERY, SIGNAL, WATCH_OPTIONS } from './shapes.js';

/** Time limits, in ms. */
export interface ApiTimeouts {
  /** For a connection, TLS included; default 15 000. */
  readonly connect: number;
  /** Until an answer begins; default 65 000: the server's own limit is 60 s. */
  readonly answer: number;
  /** Between two pieces of an answer other than a watch's; default 30 000. */
  readonly idle: number;
}

const TIMEOUTS: ApiTimeouts = { connect: 15_000, answer: 65_000, idle: 30_000 };
/** Silence after which a connection is probed, in ms. Ten probes follow, a second apart: a dead peer is detected in 25 s. */
const PROBE_AFTER = 15_000;
/** Size of an error's body that is read, in bytes. */
const LONGEST_ERROR = 64 * 1024;

/** Options of a client. */
export interface ApiClientOptions {
  /** `kube-netlink-proxy/1.0.0`. */
  readonly userAgent: string;
  /** Requests per second, and at once; default 5 and 10. Events of a watch are not counted. */
  readonly rate?: typeof RATE;
  readonly timeouts?: Partial<ApiTimeouts>;
}

/** Query parameters. */
export type Query = Readonly<Record<string, string>>;

interface RequestParts {
  readonly signal: AbortSignal;
  readonly body?: string | undefined;
  /** The answer may be compressed. A server compresses lists, and never a watch. */
  readonly compressed?: boolean | undefined;
}

/** Options of a watch. */
interface WatchOptions {
  readonly signal: AbortSignal;
  /** Silence after which the connection is closed, in ms; called again after each piece of data. */
  readonly idle: () => number;
  /** Called once the server has agreed. */
  readonly opened?: () => void;
}

/** A page of a list without its items. */
export interface ListPage {
  /** Version of the whole list. */
  readonly resourceVersion: string;
  /** Token of the next page; empty after the last one. */
  readonly continue: string;
}

const SERVER = partOf<ApiConnection>(CONNECTION);
const OPTIONS = object<ApiClientOptions>(CLIENT_OPTIONS);
const WATCH = object<WatchOptions>(WATCH_OPTIONS);

/** What helps after an answer with this status. */
const REMEDIES: Readonly<Record<number, string>> = {
  401: 'the server does not accept the credentials: renew the token or the client certificate of the kubeconfig',
  403: 'give the user of the kubeconfig the rights in deploy/base/rbac.yaml',
};

/** A client of one API server. Everything that fails rejects with an ApiError. */
export class ApiClient {
  readonly #connection: ApiConnection;
  readonly #userAgent: string;
  readonly #timeouts: ApiTimeouts;
  readonly #rate: RateLimit;
  readonly #agents: Agents;

  constructor(connection: ApiConnection, options: ApiClientOptions) {
    checkArgument('ApiClient', 'connection', connection, SERVER);
    checkArgument('ApiClient', 'options', options, OPTIONS);
    this.#connection = connection;
    this.#userAgent = options.userAgent;
    this.#timeouts = { ...TIMEOUTS, ...options.timeouts };
    this.#rate = new RateLimit(options.rate);
    this.#agents = new Agents(
      connection.server.protocol === 'https:',
      connection.proxy,
      this.#timeouts.connect,
    );
  }

  /** Reads one page of a list; `take` receives each item as soon as it has arrived. */
  async list(
    path: string,
    query: Query,
    take: (item: unknown) => void,
    signal: AbortSignal,
  ): Promise<ListPage> {
    const operation = 'ApiClient.list';
    checkArgument(operation, 'path', path, PATH);
    checkArgument(operation, 'query', query, QUERY);
    checkArgument(operation, 'take', take, CALLBACK);
    checkArgument(operation, 'signal', signal, SIGNAL);
    const { what, response } = await this.#open('GET', path, query, { signal, compressed: true });
    const reader = new ListReader(what);
    const slice = new TimeSlice();
    for await (const chunk of piecesOf(response, what, () => this.#timeouts.idle)) {
      for (const item of reader.push(chunk)) {
        if (slice.spend()) await slice.yield();
        signal.throwIfAborted();
        take(item);
        if (slice.spend()) await slice.yield();
      }
    }
    return readPage(reader.end(), what);
  }

  /** Follows a list: yields each event as it arrives, until the server ends the watch. */
  async *watch(path: string, query: Query, options: WatchOptions): AsyncGenerator<unknown, void> {
    checkArgument('ApiClient.watch', 'path', path, PATH);
    checkArgument('ApiClient.watch', 'query', query, QUERY);
    checkArgument('ApiClient.watch', 'options', options, WATCH);
    const { signal, idle, opened } = options;
    const { what, response } = await this.#open('GET', path, { ...query, watch: 'true' }, { signal });
    opened?.();
    const reader = new LineReader(what);
    const slice = new TimeSlice();
    for await (const chunk of piecesOf(response, what, idle)) {
      for (const event of reader.push(chunk)) {
        // To parse a large object takes as long as a slice, and so does what the caller does with it.
        if (slice.spend()) await slice.yield();
        yield event;
        if (slice.spend()) await slice.yield();
      }
    }
    if (!reader.whole)
      throw new ApiError({ code: 'ERR_MALFORMED', operation: what, said: 'a line is cut off' });
  }

  /** Creates an object. */
  async create(path: string, body: unknown, signal: AbortSignal): Promise<void> {
    checkArgument('ApiClient.create', 'path', path, PATH);
    checkArgument('ApiClient.create', 'body', body, BODY);
    checkArgument('ApiClient.create', 'signal', signal, SIGNAL);
    const { what, response } = await this.#open('POST', path, {}, { signal, body: JSON.stringify(body) });
    for await (const _ of piecesOf(response, what, () => this.#timeouts.idle)) {
      // Read to its end, so that the connection can be used again.
    }
  }

  /** Closes every connection; requests under way fail. */
  close(): void {
    this.#agents.close();
  }

  /** Sends a request; resolves when a successful answer begins. */
  async #open(
    method: string,
    path: string,
    query: Query,
    request: RequestParts,
  ): Promise<{ what: string; response: IncomingMessage }> {
    const { server } = this.#connection;
    const what = `${method} ${server.protocol}//${server.host}${server.pathname.replace(/\/$/, '')}${path}`;
    try {
      await this.#rate.take(request.signal);
      const response = await this.#send(what, method, path, query, request);
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 300) return { what, response };
      throw await this.#refusal(what, response);
    } catch (error) {
      throw asApiError(error, what);
    }
  }

  async #send(
    what: string,
    method: string,
    path: string,
    query: Query,
    { signal, body, compressed }: RequestParts,
  ): Promise<IncomingMessage> {
    const { tls, headers, refused } = await this.#connection.credentials();
    const url = new URL(this.#connection.server);
    url.pathname = url.pathname.replace(/\/$/, '') + path;
    url.search = new URLSearchParams(query).toString();
    const send = url.protocol === 'https:' ? tlsRequest : plainRequest;
    const request = send(url, {
      method,
      ...tls,
      agent: this.#agents.for(tls),
      signal,
      headers: {
        ...headers,
        Accept: 'application/json',
        'User-Agent': this.#userAgent,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(compressed ? { 'Accept-Encoding': 'gzip' } : {}),
      },
    });
    request.end(body);
    try {
      const response = await answerTo(request, what, this.#timeouts);
      if (response.statusCode === 401) refused();
      return response;
    } catch (error) {
      // The server closed a connection just as it was used again: nothing was wrong with the request.
      const closed = ['ECONNRESET', 'EPIPE'].includes(String((error as { code?: unknown }).code));
      if (closed && request.reusedSocket && !signal.aborted)
        return this.#send(what, method, path, query, { signal, body, compressed });
      throw error;
    }
  }

  async #refusal(what: string, response: IncomingMessage): Promise<ApiError> {
    const status = response.statusCode ?? 0;
    const { message, reason, retryAfterSeconds, tooLarge } = await this.#readStatus(what, response);
    const retryAfter = patience(response.headers['retry-after'] ?? retryAfterSeconds);
    return new ApiError({
      code: 'ERR_STATUS',
      operation: what,
      status,
      said: refusalText(status, message || response.statusMessage || '', reason),
      reason,
      retryAfter,
      tooLarge,
      hint: [this.#connection.stale, REMEDIES[status]].flatMap((text) => text ?? []).join('; ') || undefined,
    });
  }

  /** The server's Status object. Any other body, or an unreadable one, is passed over: the status code is enough. */
  async #readStatus(what: string, response: IncomingMessage) {
    let text = '';
    try {
      for await (const piece of piecesOf(response, what, () => this.#timeouts.idle)) {
        text += piece.toString();
        if (text.length > LONGEST_ERROR) break;
      }
    } catch {
      text = '';
    }
    return readStatus(parsed(text));
  }
}

/** The time of a `Retry-After` in seconds, in ms; undefined for anything but a number. Five minutes at most. */
export function patience(seconds: unknown): number | undefined {
  const asked = Number(seconds ?? Number.NaN);
  return asked > 0 ? Math.min(asked, 300) * 1000 : undefined;
}

/** A Status object (meta/v1), as far as it is of use. */
interface ReadStatus {
  readonly message: string;
  readonly reason: string;
  readonly retryAfterSeconds: unknown;
  /** Cause `ResourceVersionTooLarge`: a version was asked for that is newer than the server's newest. */
  readonly tooLarge: boolean;
}

/** Reads a Status object; the parts of anything else are empty. */
export function readStatus(raw: unknown): ReadStatus {
  const status = isRecord(raw) && raw['kind'] === 'Status' ? raw : {};
  const details = isRecord(status['details']) ? status['details'] : {};
  const causes = Array.isArray(details['causes']) ? details['causes'] : [];
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return {
    message: text(status['message']),
    reason: text(status['reason']),
    retryAfterSeconds: details['retryAfterSeconds'],
    tooLarge: causes.some((cause) => isRecord(cause) && cause['reason'] === 'ResourceVersionTooLarge'),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readPage(raw: unknown, what: string): ListPage {
  const metadata = isRecord(raw) && isRecord(raw['metadata']) ? raw['metadata'] : {};
  const { resourceVersion, continue: next } = metadata as Record<string, unknown>;
  if (typeof resourceVersion !== 'string' || resourceVersion === '') {
    throw new ApiError({ code: 'ERR_MALFORMED', operation: what, said: 'the list has no resourceVersion' });
  }
  return { resourceVersion, continue: typeof next === 'string' ? next : '' };
}

/** Waits for an answer to begin. */
function answerTo(request: ClientRequest, what: string, timeouts: ApiTimeouts): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const giveUp = (said: string) => () =>
      request.destroy(new ApiError({ code: 'ERR_TIMEOUT', operation: what, said }));
    const connecting = setTimeout(giveUp('no connection'), timeouts.connect);
    const answering = setTimeout(giveUp('no answer'), timeouts.answer);
    const settled = () => {
      clearTimeout(connecting);
      clearTimeout(answering);
    };
    request.once('socket', (socket: Socket & { encrypted?: boolean }) => {
      socket.setKeepAlive(true, PROBE_AFTER);
      if (!socket.connecting) clearTimeout(connecting);
      else socket.once(socket.encrypted ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
    });
    request.once('response', (response) => {
      settled();
      resolve(response);
    });
    request.on('error', (error) => {
      settled();
      reject(error);
    });
    // Node.js reports an answer that switches protocols (101) neither as a response nor as an error.
    request.once('close', () => {
      settled();
      const said = 'the connection ended without an answer';
      reject(new ApiError({ code: 'ERR_MALFORMED', operation: what, said }));
    });
  });
}
