// Sends operations to one part of the kernel in batches.
import { NetlinkError } from '../../errors.js';

/** The result of an operation: its first error, or undefined. */
export type Result = NetlinkError | undefined;

/** Maximum operations in one batch. Short batches let other work, and the end of the process, run in between. */
const MOST = 256;

/** Errors that mean that the change has already been made. These are successes. */
const NOTHING_TO_DO: Readonly<Record<string, readonly string[]>> = {
  addAddress: ['EEXIST'],
  deleteAddress: ['EADDRNOTAVAIL', 'ENODEV'],
  deleteLink: ['ENODEV'],
  deleteService: ['ESRCH'],
  deleteRealServer: ['ENOENT', 'ESRCH'],
};

/** Collects and sends operations in order. While the kernel works on one batch, the next one is collected and sent. */
export class BatchSender<KernelOperation extends { readonly do: string }> {
  readonly #family: string;
  readonly #apply: (operations: readonly KernelOperation[]) => Promise<Result[]>;
  readonly #results: Result[];
  #operations: KernelOperation[] = [];
  /** For each collected operation, the place of its result: several may have the same. */
  #places: number[] = [];
  /** The batch that was sent last. */
  #sent: Promise<void> | undefined;

  /**
   * @param family name of the part, for errors of its own
   * @param apply sends a batch: one result for each operation
   * @param results takes the first error of the operations of each place
   */
  constructor(
    family: string,
    apply: (operations: readonly KernelOperation[]) => Promise<Result[]>,
    results: Result[],
  ) {
    this.#family = family;
    this.#apply = apply;
    this.#results = results;
  }

  /** Adds an operation. The next one may be added after the returned promise, if there is one. */
  add(operation: KernelOperation, place: number): Promise<void> | undefined {
    this.#operations.push(operation);
    this.#places.push(place);
    return this.#operations.length < MOST ? undefined : this.#send();
  }

  /** Sends the rest. Resolves when all results are there. */
  async end(): Promise<void> {
    if (this.#operations.length > 0) await this.#send();
    await this.#sent;
  }

  /** Sends a batch. Returns the promise of the one before it, so that two are under way at most. */
  #send(): Promise<void> | undefined {
    const before = this.#sent;
    this.#sent = this.#finish(this.#operations, this.#places);
    this.#operations = [];
    this.#places = [];
    return before;
  }

  /** If the batch itself fails, each of its operations has the error. */
  async #finish(operations: readonly KernelOperation[], places: readonly number[]): Promise<void> {
    let errors: readonly Result[];
    try {
      errors = await this.#apply(operations);
    } catch (error) {
      const whole = asNetlinkError(error, this.#family);
      errors = operations.map(() => whole);
    }
    for (let i = 0; i < operations.length; i++) {
      const error = errors[i];
      if (error === undefined) continue;
      if (NOTHING_TO_DO[(operations[i] as KernelOperation).do]?.includes(error.code)) continue;
      this.#results[places[i] as number] ??= error;
    }
  }
}

/** The result of one call: the error with which it resolves or rejects, if any. */
export async function resultOf(operation: string, call: () => Promise<unknown>): Promise<Result> {
  try {
    const result = await call();
    return result instanceof NetlinkError ? result : undefined;
  } catch (error) {
    return asNetlinkError(error, operation);
  }
}

function asNetlinkError(error: unknown, operation: string): NetlinkError {
  if (error instanceof NetlinkError) return error;
  return new NetlinkError({ code: 'ERR_UNKNOWN', operation, kernelMessage: String(error) });
}
