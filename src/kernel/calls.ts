// Calls of one part of the addon: one after another, in the order in which they were made, until it is closed.
import { NetlinkError } from '../errors.js';
import type { NativeError, NativePart } from './addon.js';
import { argumentError, type Fault, findUnknown } from './arguments.js';
import { type Attempt, closedError, toNetlinkError } from './failures.js';
import type { Batch, BatchSource, OpenOptions } from './types.js';

const DEFAULT_TIMEOUT = 5000;
const LONGEST_TIMEOUT = 0x7fff_ffff;
const OPTIONS: ReadonlySet<string> = new Set(['netns', 'timeout']);

/** Opens a client or a watch of the addon; `attempt` names it in errors. */
export async function openCalls<Native extends NativePart, Change>(
  client: Native,
  options: OpenOptions,
  attempt: Attempt,
): Promise<Calls<Native, Change>> {
  const { netns = '', timeout = DEFAULT_TIMEOUT } = options;
  const fault = findUnknown(options, OPTIONS) ?? findOptionFault(netns, timeout);
  if (fault) throw argumentError(attempt.operation, fault);
  const calls = new Calls<Native, Change>(client);
  try {
    await calls.run({ ...attempt, target: netns || undefined }, () => client.open(netns, timeout));
  } catch (error) {
    calls.close(); // else sockets that were opened before the failure stay open until the client is collected
    throw error;
  }
  return calls;
}

function findOptionFault(netns: unknown, timeout: unknown): Fault | undefined {
  if (typeof netns !== 'string' || netns.includes('\0')) {
    return { field: 'netns', value: netns, rule: 'must be a path', wrongType: typeof netns !== 'string' };
  }
  if (Number.isInteger(timeout) && Number(timeout) >= 1 && Number(timeout) <= LONGEST_TIMEOUT)
    return undefined;
  const rule = `must be an integer from 1 to ${LONGEST_TIMEOUT}`;
  return { field: 'timeout', value: timeout, rule, wrongType: typeof timeout !== 'number' };
}

/**
 * Runs calls one at a time. Without this, two calls at once would reach the kernel in no particular order, and calls
 * that wait for each other inside the addon would hold threads of libuv's small pool, which files and names need too.
 */
export class Calls<Native extends NativePart, Change = unknown> implements BatchSource<Change> {
  onBatch: ((batch: Batch<Change>) => void) | undefined = undefined;
  readonly #client: Native;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(client: Native) {
    this.#client = client;
  }

  /** Runs `call` when all earlier calls have ended. Rejects with NetlinkError: the addon's, or ERR_CLOSED after close(). */
  run<T>(attempt: Attempt, call: (client: Native) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(closedError(attempt.operation));
    const result = this.#last.then(async () => {
      try {
        return await call(this.#client);
      } catch (error) {
        throw isNativeError(error)
          ? toNetlinkError({ errno: error.errno, code: error.code, message: error.kernelMessage }, attempt)
          : error;
      }
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Lets calls already made finish, then closes the client. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#last.then(() => this.#client.close());
  }
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
