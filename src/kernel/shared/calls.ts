// Calls of one part of the addon: one after another, in the order in which they were made, until it is closed.
import { NetlinkError } from '../errors.js';
import { onAbort } from './aborts.js';
import type { NativeError, NativeNamespace, NativePart } from './addon.js';
import {
  argumentError,
  checkOptions,
  findInvalidCallOptions,
  findUnknown,
  type InvalidValue,
  invalidInteger,
} from './arguments.js';
import { type Attempt, closedError, type Reported, toNetlinkError } from './failures.js';
import type { Batch, BatchSource, CallOptions, OpenOptions } from './types.js';

const DEFAULT_TIMEOUT = 5000;
const LONGEST_TIMEOUT = 0x7fff_ffff;
const LARGEST_PID = 0x3f_ffff; // PID_MAX_LIMIT, include/linux/threads.h
const NO_OPTIONS: CallOptions = Object.freeze({});
const OPEN_OPTIONS: ReadonlySet<string> = new Set(['netns', 'timeout', 'signal']);

/** An attempt; or a function that describes it, for calls that describe it only when they fail. */
type AttemptOrMaker = Attempt | (() => Attempt);

function made(attempt: AttemptOrMaker): Attempt {
  return typeof attempt === 'function' ? attempt() : attempt;
}

/** How a part of the addon is opened: its options, after they were checked. */
interface Opening {
  /** A path, empty for the namespace of the process, or the namespace of an open client, which it has whatever its name. */
  readonly netns: string | NativeNamespace;
  /** The path in errors. */
  readonly target?: string | undefined;
  /** In ms. */
  readonly timeout: number;
}

/** Opens a client or a watch of the addon; `attempt` names it in errors. */
export async function openCalls<Native extends NativePart, Change>(
  client: Native,
  options: OpenOptions,
  attempt: Attempt,
): Promise<Calls<Native, Change>> {
  checkOptions(attempt.operation, options);
  const { netns, timeout = DEFAULT_TIMEOUT, signal } = options;
  const invalid =
    findUnknown(options, OPEN_OPTIONS) ??
    findInvalidNamespace(netns) ??
    invalidInteger('timeout', timeout, 1, LONGEST_TIMEOUT);
  if (invalid) throw argumentError(attempt.operation, invalid);
  const path = typeof netns === 'number' ? `/proc/${netns}/ns/net` : (netns ?? '');
  return openAs(client, { netns: path, target: path || undefined, timeout }, attempt, { signal });
}

/** The same, with the options with which another part was opened. */
export async function openAs<Native extends NativePart, Change>(
  client: Native,
  { netns, target, timeout }: Opening,
  attempt: Attempt,
  options: CallOptions = NO_OPTIONS,
): Promise<Calls<Native, Change>> {
  const calls = new Calls<Native, Change>(client);
  try {
    const opened = await calls.run({ ...attempt, target }, () => client.open(netns, timeout), options);
    calls.opening = { netns: opened, target, timeout };
  } catch (error) {
    void calls.close(); // else sockets that were opened before the failure stay open until the client is collected
    throw error;
  }
  return calls;
}

function findInvalidNamespace(netns: unknown): InvalidValue | undefined {
  if (netns === undefined) return undefined;
  if (typeof netns === 'number') return invalidInteger('netns', netns, 1, LARGEST_PID);
  // A blank text is often a variable that is not set; it must not mean the namespace of the process.
  if (typeof netns === 'string' && netns !== '' && !netns.includes('\0')) return undefined;
  const rule = 'must be a path or the id of a process';
  return { field: 'netns', value: netns, rule, wrongType: typeof netns !== 'string' };
}

/**
 * Runs calls one at a time. Without this, two calls at once would reach the kernel in no particular order, and calls
 * that wait for each other inside the addon would hold threads of libuv's small pool, which files and names need too.
 */
export class Calls<Native extends NativePart, Change = unknown> implements BatchSource<Change> {
  onBatch: ((batch: Batch<Change>) => void) | undefined = undefined;
  readonly #client: Native;
  /** Ends with the last call that was made. Never rejected, and without the result, which may be long. */
  #last: Promise<void> = Promise.resolve();
  readonly #closed = new AbortController();
  #closing: Promise<void> | undefined;

  /** How the client was opened: its watches are opened in the same way, and in the same network namespace. */
  opening: Opening = { netns: '', timeout: DEFAULT_TIMEOUT };

  constructor(client: Native) {
    this.#client = client;
  }

  /** Aborted by close(). */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /**
   * Runs `call` when all earlier calls have ended. Rejects with NetlinkError: the addon's, or ERR_CLOSED after close(); with the
   * reason of an aborted signal; with TypeError for invalid options.
   */
  run<T>(
    attempt: AttemptOrMaker,
    call: (client: Native) => Promise<T>,
    options: CallOptions = NO_OPTIONS,
  ): Promise<T> {
    if (this.#closing) return Promise.reject(closedError(made(attempt).operation));
    const invalid = findInvalidCallOptions(options);
    if (invalid) return Promise.reject(argumentError(made(attempt).operation, invalid));
    const { signal } = options;
    const result = this.#last
      .then(() => {
        signal?.throwIfAborted();
        return call(this.#client);
      })
      .catch((error: unknown) => {
        throw isNativeError(error) ? toNetlinkError(reportedBy(error), made(attempt)) : error;
      });
    this.#last = result.then(ignore, ignore);
    return signal ? orAborted(result, signal) : result;
  }

  /** Lets calls already made finish, then closes the client. */
  close(): Promise<void> {
    this.#closed.abort();
    this.#closing ??= this.#last.then(() => this.#client.close());
    return this.#closing;
  }
}

/** The end of a call, for those that wait for it. */
function ignore(): void {}

/** The result of a call, or the reason of its signal if that is earlier. */
function orAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    const forget = onAbort(signal, abort);
    result.then(resolve, reject).finally(forget);
  });
}

/** The failure that an error of the addon is about. */
export function reportedBy({ errno, code, kernelMessage: message, step, path }: NativeError): Reported {
  return { errno, code, message, step, path };
}

/** Whether it is an error of the addon. */
export function isNativeError(error: unknown): error is NativeError {
  return error instanceof Error && 'kernelMessage' in error && 'errno' in error;
}

/** The value of a promise, or undefined when it is rejected with a NetlinkError of this code. */
export async function unless<T>(code: string, promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof NetlinkError && error.code === code) return undefined;
    throw error;
  }
}
