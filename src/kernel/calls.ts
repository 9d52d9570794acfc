// Calls of one native client: one after another, in the order in which they were made, until it is closed.
import type { NativeClient, NativeError } from './addon.js';
import { type Attempt, closedError, toNetlinkError } from './failures.js';

/**
 * Runs calls one at a time. Without this, two calls at once would reach the kernel in no particular order, and calls
 * that wait for each other inside the addon would hold threads of libuv's small pool, which files and names need too.
 */
export class Calls<Client extends NativeClient> {
  readonly #client: Client;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Runs `call` when all earlier calls have ended. Rejects with NetlinkError: the addon's, or ERR_CLOSED after close(). */
  run<T>(attempt: Attempt, call: (client: Client) => Promise<T>): Promise<T> {
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

  /** Lets calls already made finish, then lets go of the client. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#last.then(() => this.#client.close());
  }
}

function isNativeError(error: unknown): error is NativeError {
  return error instanceof Error && 'kernelMessage' in error && 'errno' in error;
}
