// The common part of the clients of all families that speak netlink.
import type { NativeClient } from './addon.js';
import { checkCallOptions } from './arguments.js';
import { applyAll, applyOne, type Packing } from './batch.js';
import type { Calls } from './calls.js';
import type { Attempt } from './failures.js';
import { type Reading, RecordListing } from './listing.js';
import type { Batch, CallOptions, Listing, OperationResult } from './types.js';
import { Applier } from './verbs.js';

/** A client that makes its calls through `calls`. Each family adds its verbs. */
export class Client<Native extends NativeClient, Change> extends Applier<Change> {
  protected readonly calls: Calls<Native, Change>;

  constructor(calls: Calls<Native, Change>) {
    super();
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

  protected applyOne<Operation extends Change>(
    operation: Operation,
    packing: Packing<Operation>,
    options?: CallOptions,
  ): Promise<void> {
    return applyOne(this.calls, operation, packing, options);
  }

  protected applyAll<Operation extends Change>(
    operations: readonly Operation[],
    packing: Packing<Operation>,
    options?: CallOptions,
  ): Promise<OperationResult[]> {
    return applyAll(this.calls, operations, packing, options);
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
