// Calls of one part of the addon: one after another, in the order in which they were made, until it is closed.
import { NetlinkError } from '../errors.js';
import type { NativeError, NativePart } from './addon.js';
import { argumentError, type Fault, findCallOptionsFault, findUnknown, integerFault } from './arguments.js';
import { type Attempt, closedError, toNetlinkError } from './failures.js';
import type { Batch, BatchSource, CallOptions, OpenOptions } from './types.js';

const DEFAULT_TIMEOUT = 5000;
const LONGEST_TIMEOUT = 0x7fff_ffff;
const LARGEST_PID = 0x3f_ffff; // PID_MAX_LIMIT, include/linux/threads.h
const OPEN_OPTIONS: ReadonlySet<string> = new Set(['netns', 'timeout', 'signal']);

/** Opens a client or a watch of the addon; `attempt` names it in errors. */
export async function openCalls<Native extends NativePart, Change>(
  client: Native,
  options: OpenOptions,
  attempt: Attempt,
): Promise<Calls<Native, Change>> {
  const { netns = '', timeout = DEFAULT_TIMEOUT, signal } = options;
  const fault =
    findUnknown(options, OPEN_OPTIONS) ??
    findNamespaceFault(netns) ??
    integerFault('timeout', timeout, 1, LONGEST_TIMEOUT);
  if (fault) throw argumentError(attempt.operation, fault);
  const path = typeof netns === 'number' ? `/proc/${netns}/ns/net` : netns;
  const calls = new Calls<Native, Change>(client, { netns: path, timeout });
  try {
    await calls.run({ ...attempt, target: path || undefined }, () => client.open(path, timeout), { signal });
  } catch (error) {
    void calls.close(); // else sockets that were opened before the failure stay open until the client is collected
    throw error;
  }
  return calls;
}

function findNamespaceFault(netns: unknown): Fault | undefined {
  if (typeof netns === 'number') return integerFault('netns', netns, 1, LARGEST_PID);
  if (typeof netns === 'string' && !netns.includes('\0')) return undefined;
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
  #last: Promise<unknown> = Promise.resolve();
  readonly #closed = new AbortController();
  #closing: Promise<void> | undefined;

  /** How the client was opened: its watches are opened in the same way. */
  readonly opening: OpenOptions;

  constructor(client: Native, opening: OpenOptions = {}) {
    this.#client = client;
    this.opening = opening;
  }

  /** Aborted by close(). */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /**
   * Runs `call` when all earlier calls have ended. Rejects with NetlinkError: the addon's, or ERR_CLOSED after close(); with
   * the reason of an aborted signal; with TypeError for options that are none.
   */
  run<T>(attempt: Attempt, call: (client: Native) => Promise<T>, options: CallOptions = {}): Promise<T> {
    if (this.#closing) return Promise.reject(closedError(attempt.operation));
    const fault = findCallOptionsFault(options);
    if (fault) return Promise.reject(argumentError(attempt.operation, fault));
    const { signal } = options;
    const result = this.#last.then(async () => {
      signal?.throwIfAborted();
      try {
        return await call(this.#client);
      } catch (error) {
        throw isNativeError(error)
          ? toNetlinkError({ errno: error.errno, code: error.code, message: error.kernelMessage }, attempt)
          : error;
      }
    });
    this.#last = result.catch(() => undefined);
    return signal ? orAborted(result, signal) : result;
  }

  /** Lets calls already made finish, then closes the client. */
  close(): Promise<void> {
    this.#closed.abort();
    this.#closing ??= this.#last.then(() => this.#client.close());
    return this.#closing;
  }
}

/** The result of a call, or the reason of its signal if that is earlier. */
function orAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function isNativeError(error: unknown): error is NativeError {
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
