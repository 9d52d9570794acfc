// The verbs of a part of the kernel that send one operation each: its client and its fake have them in common.
import type { Packing } from './batch.js';
import type { Batch, CallOptions, KernelClient, OperationResult } from './types.js';

/** What a client and its fake have in common: a client sends operations to the kernel, a fake carries them out itself. */
export abstract class Applier<Change> implements KernelClient<Change> {
  abstract onBatch: ((batch: Batch<Change>) => void) | undefined;
  abstract close(): Promise<void>;

  /** Closes it: `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Carries one operation out, or rejects with its error. */
  protected abstract applyOne<Operation extends Change>(
    operation: Operation,
    packing: Packing<Operation>,
    options?: CallOptions,
  ): Promise<void>;

  /** Carries operations out as one call. Resolves to one result for each. */
  protected abstract applyAll<Operation extends Change>(
    operations: readonly Operation[],
    packing: Packing<Operation>,
    options?: CallOptions,
  ): Promise<OperationResult[]>;
}

// biome-ignore lint/suspicious/noExplicitAny: a class that is added to another must take any arguments.
type ClassOf<Instance> = abstract new (...args: any[]) => Instance;

/** A client with the methods of a class of verbs, which are copied: a class extends only one other. */
export function withVerbs<Client extends ClassOf<Applier<never>>, Verbs extends Applier<never>>(
  client: Client,
  verbs: ClassOf<Verbs>,
): Client & ClassOf<Verbs> {
  abstract class WithVerbs extends client {}
  const { constructor: _, ...methods } = Object.getOwnPropertyDescriptors(verbs.prototype);
  Object.defineProperties(WithVerbs.prototype, methods);
  return WithVerbs as Client & ClassOf<Verbs>;
}
