// The common part of the clients of all families that speak netlink.
import type { NativePart } from './addon.js';
import { checkCallOptions } from './arguments.js';
import type { Calls } from './calls.js';
import type { Attempt } from './failures.js';
import { type Reading, RecordListing } from './listing.js';
import type { Batch, CallOptions, KernelClient, Listing } from './types.js';

/** A client that makes its calls through `calls`. Each family adds its verbs. */
export class Client<Native extends NativePart, Change> implements KernelClient<Change> {
  protected readonly calls: Calls<Native, Change>;

  constructor(calls: Calls<Native, Change>) {
    this.calls = calls;
  }

  get onBatch(): ((batch: Batch<Change>) => void) | undefined {
    return this.calls.onBatch;
  }

  set onBatch(listener: ((batch: Batch<Change>) => void) | undefined) {
    this.calls.onBatch = listener;
  }

  close(): Promise<void> {
    return this.calls.close();
  }

  /** Closes it: `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The listing of the records that `call` gets, in the form that `read` knows. */
  protected listing<T>(
    attempt: Attempt,
    call: (client: Native) => Promise<Uint8Array>,
    read: (records: Uint8Array) => Reading<T>,
    options: CallOptions = {},
  ): Listing<T> {
    checkCallOptions(attempt.operation, options);
    return new RecordListing(async () => read(await this.calls.run(attempt, call, options)), options.signal);
  }
}
