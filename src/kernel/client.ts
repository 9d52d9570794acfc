// The common part of the clients of all families that speak netlink.
import type { NativePart } from './addon.js';
import type { Calls } from './calls.js';
import type { Batch, BatchSource } from './types.js';

/** A client that makes its calls through `calls`. Each family adds its verbs. */
export class Client<Native extends NativePart, Change> implements BatchSource<Change> {
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

  /** Lets calls already made finish, then closes the sockets. */
  close(): void {
    this.calls.close();
  }
}
