// The common part of the fakes of netlink clients. They share the rules for arguments and the errors with the real ones.
import type { NetlinkError } from '../errors.js';
import {
  argumentError,
  checkCallOptions,
  findInvalidCallOptions,
  invalidOperation,
} from '../shared/arguments.js';
import {
  attemptAt,
  batchName,
  checkBatch,
  type Naming,
  type OperationWriter,
  type Packing,
  writerOf,
} from '../shared/batch.js';
import { type Attempt, closedError, toNetlinkError } from '../shared/failures.js';
import { RecordListing } from '../shared/listing.js';
import { reported } from '../shared/reported.js';
import type { Batch, CallOptions, Listing, OperationResult } from '../shared/types.js';
import { Applier } from '../shared/verbs.js';
import { TimeSlice } from '../timeSlice.js';
import type { Fault, Faults } from './faults.js';

/** Operations that are carried out without a turn of the event loop, as the real clients send them. */
const PORTION = 1024;

/** An error of a fake kernel: its number, or with the message that the kernel has for it. */
export type Refusal = number | { readonly errno: number; readonly message: string };

/** The error of a call that a fake kernel refuses. */
export function refusalError(refusal: Refusal, attempt: Attempt): NetlinkError {
  const { errno, message } = typeof refusal === 'number' ? { errno: refusal, message: '' } : refusal;
  return toNetlinkError({ errno, code: '', message }, attempt);
}

/** A fake of a client: fails on demand, reports its batches, and can be closed. */
export abstract class FakeClient<Change> extends Applier<Change> implements Faults {
  onBatch: ((batch: Batch<Change>) => void) | undefined = undefined;
  fault: Fault = () => undefined;
  readFault: Fault = () => undefined;
  readonly #closed = new AbortController();
  /** Ends with the last batch of many operations, for which later calls wait. */
  #batch: Promise<unknown> | undefined;

  /** Aborted by close(). */
  protected get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** As with the real one, later calls reject with ERR_CLOSED. The fake keeps its state. */
  async close(): Promise<void> {
    this.#closed.abort();
  }

  /** A call that reads. Rejects with its fault. */
  protected read<T>(attempt: Attempt, act: () => T, options?: CallOptions): Promise<T> {
    return this.#call('readFault', attempt, act, options);
  }

  /** A listing of the values that `act` returns. Iterations reject with its fault. */
  protected listing<T>(attempt: Attempt, act: () => Iterable<T>, options: CallOptions = {}): Listing<T> {
    checkCallOptions(attempt.operation, options);
    return new RecordListing(() => this.read(attempt, act, options), options.signal);
  }

  /** A change that is sent alone, and not in a batch. Rejects with its error. */
  protected change<T>(attempt: Attempt, act: () => T, options?: CallOptions): Promise<T> {
    return this.#call('fault', attempt, act, options);
  }

  /** Carries an operation out. Returns the kernel's error, or undefined when it is done. */
  protected abstract act(operation: Change): Refusal | undefined;

  protected applyAll<Operation extends Change>(
    operations: readonly Operation[],
    packing: Packing<Operation>,
    options?: CallOptions,
  ): Promise<OperationResult[]> {
    return this.sendAll(operations, packing, writerOf(packing), options);
  }

  /** As {@link applyAll}, with operations in any form. */
  protected async sendAll<Operation extends Change>(
    operations: readonly Operation[],
    naming: Naming<Operation>,
    writer: OperationWriter<Operation>,
    options?: CallOptions,
  ): Promise<OperationResult[]> {
    checkBatch(operations, naming);
    if (this.#batch) await this.#batch;
    return reported(this, operations, naming.nameOf, () => {
      const results = this.results(operations, naming, writer, options);
      if (operations.length > PORTION) this.#batch = results.catch(() => {});
      return results;
    });
  }

  /** The results of a batch, which is not reported. Other callbacks of the event loop run between its portions. */
  protected async results<Operation extends Change>(
    operations: readonly Operation[],
    naming: Naming<Operation>,
    writer: OperationWriter<Operation>,
    options: CallOptions = {},
    whole: Attempt = { operation: batchName(naming) },
  ): Promise<OperationResult[]> {
    this.check(whole, options);
    const own = operations.length > PORTION ? operations.slice() : operations;
    const slice = new TimeSlice();
    const results: OperationResult[] = [];
    for (let place = 0; place < own.length; place++) {
      if (place > 0 && place % PORTION === 0) {
        await slice.yield();
        options.signal?.throwIfAborted();
      }
      const operation = own[place] as Operation;
      writer.begin(1);
      const broken = writer.write(operation);
      const attempt = attemptAt(operation, naming);
      results.push(broken ? invalidOperation(attempt, broken) : this.#attempt(attempt, operation));
    }
    return results;
  }

  protected async applyOne<Operation extends Change>(
    operation: Operation,
    packing: Packing<Operation>,
    options?: CallOptions,
  ): Promise<void> {
    const attempt = attemptAt(operation, packing);
    const writer = writerOf(packing);
    writer.begin(1);
    const broken = writer.write(operation);
    if (broken) throw argumentError(attempt.operation, broken);
    if (this.#batch) await this.#batch;
    const [error] = await reported(this, [operation], packing.nameOf, () =>
      this.results([operation], packing, writer, options, attempt),
    );
    if (error) throw error;
  }

  /** Carries a batch out when those before it have ended. Later calls wait for it. */
  protected inTurn<T>(work: () => Promise<T>): Promise<T> {
    const former = this.#batch;
    const result = (async () => {
      await former;
      return work();
    })();
    this.#batch = result.catch(() => {});
    return result;
  }

  async #call<T>(kind: keyof Faults, attempt: Attempt, act: () => T, options: CallOptions = {}): Promise<T> {
    if (this.#batch) await this.#batch;
    this.check(attempt, options);
    const fault = this[kind](attempt.operation, attempt.target ?? '');
    if (fault) throw fault;
    return act();
  }

  #attempt(attempt: Attempt, operation: Change): OperationResult {
    const fault = this.fault(attempt.operation, attempt.target ?? '');
    if (fault) return fault;
    const refusal = this.act(operation);
    return refusal === undefined ? undefined : refusalError(refusal, attempt);
  }

  /** Throws the error of a call that is not to be carried out. */
  protected check({ operation }: Attempt, options: CallOptions): void {
    if (this.closed.aborted) throw closedError(operation);
    const invalid = findInvalidCallOptions(options);
    if (invalid) throw argumentError(operation, invalid);
    options.signal?.throwIfAborted();
  }
}
