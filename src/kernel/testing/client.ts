// The common part of the fakes of netlink clients. They share the rules for arguments and the errors with the real ones.
import type { NetlinkError } from '../../errors.js';
import { TimeSlice } from '../../timeSlice.js';
import {
  argumentError,
  checkCallOptions,
  findCallOptionsFault,
  invalidOperation,
} from '../shared/arguments.js';
import { attemptAt, batchName, checkBatch, type Packing } from '../shared/batch.js';
import { type Attempt, closedError, toNetlinkError } from '../shared/failures.js';
import { RecordListing } from '../shared/listing.js';
import { RecordWriter } from '../shared/records/recordWriter.js';
import { reported } from '../shared/reported.js';
import type { Batch, CallOptions, KernelClient, Listing, OperationResult } from '../shared/types.js';
import type { Fault, Faults } from './faults.js';

/** Operations that are carried out without a turn of the event loop, as the real clients send them. */
const PORTION = 1024;

/** An error of a fake kernel: its number, or with the message that the kernel has for it. */
export type Refusal = number | { readonly errno: number; readonly message: string };

/** Carries an operation out. Returns the kernel's error, or undefined when it is done. */
export type Act<Operation> = (operation: Operation) => Refusal | undefined;

/** The error of a call that a fake kernel refuses. */
export function refusalError(refusal: Refusal, attempt: Attempt): NetlinkError {
  const { errno, message } = typeof refusal === 'number' ? { errno: refusal, message: '' } : refusal;
  return toNetlinkError({ errno, code: '', message }, attempt);
}

/** A fake of a client: fails on demand, reports its batches, and can be closed. */
export class FakeClient<Change> implements Faults, KernelClient<Change> {
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

  /** Closes it: `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** A call without a fault of its own: that of a batch, whose operations have theirs. */
  protected async open<T>(attempt: Attempt, act: () => T, options: CallOptions): Promise<T> {
    if (this.#batch) await this.#batch;
    this.#check(attempt, options);
    return act();
  }

  /** A call that reads. Rejects with its fault. */
  protected async read<T>(attempt: Attempt, act: () => T, options: CallOptions = {}): Promise<T> {
    if (this.#batch) await this.#batch;
    this.#check(attempt, options);
    const fault = this.readFault(attempt.operation, attempt.target ?? '');
    if (fault) throw fault;
    return act();
  }

  /** A listing of the values that `act` returns. Iterations reject with its fault. */
  protected listing<T>(attempt: Attempt, act: () => Iterable<T>, options: CallOptions = {}): Listing<T> {
    checkCallOptions(attempt.operation, options);
    return new RecordListing(() => this.read(attempt, act, options), options.signal);
  }

  /** A change that is sent alone, and not in a batch. Rejects with its error. */
  protected async change<T>(attempt: Attempt, act: () => T, options: CallOptions = {}): Promise<T> {
    if (this.#batch) await this.#batch;
    this.#check(attempt, options);
    const fault = this.fault(attempt.operation, attempt.target ?? '');
    if (fault) throw fault;
    return act();
  }

  protected async applyAll<Operation extends Change>(
    operations: readonly Operation[],
    packing: Packing<Operation>,
    act: Act<Operation>,
    options: CallOptions = {},
  ): Promise<OperationResult[]> {
    checkBatch(operations, packing);
    if (this.#batch) await this.#batch;
    return reported<Operation, OperationResult>(this, operations, packing.nameOf, () => {
      const results = this.results(operations, packing, act, options);
      if (operations.length > PORTION) this.#batch = results.catch(() => {});
      return results;
    });
  }

  /** The results of a batch, which is not reported. Other callbacks of the event loop run between its portions. */
  protected async results<Operation>(
    operations: readonly Operation[],
    packing: Packing<Operation>,
    act: Act<Operation>,
    options: CallOptions = {},
  ): Promise<OperationResult[]> {
    this.#check({ operation: batchName(packing) }, options);
    const own = operations.length > PORTION ? operations.slice() : operations;
    const slice = new TimeSlice();
    const writer = new RecordWriter(packing.recordSize, 1);
    const results: OperationResult[] = [];
    for (let place = 0; place < own.length; place++) {
      if (place > 0 && place % PORTION === 0) {
        await slice.yield();
        options.signal?.throwIfAborted();
      }
      const operation = own[place] as Operation;
      packing.write(operation, writer);
      const broken = writer.finish();
      const attempt = attemptAt(operation, packing);
      if (!broken) writer.reset();
      results.push(broken ? invalidOperation(attempt, broken) : this.#attempt(attempt, () => act(operation)));
    }
    return results;
  }

  protected async applyOne<Operation extends Change>(
    operation: Operation,
    packing: Packing<Operation>,
    act: Act<Operation>,
    options: CallOptions = {},
  ): Promise<void> {
    const attempt = attemptAt(operation, packing);
    const writer = new RecordWriter(packing.recordSize, 1);
    packing.write(operation, writer);
    const broken = writer.finish();
    if (broken) throw argumentError(attempt.operation, broken);
    if (this.#batch) await this.#batch;
    const [error] = await reported<Operation, OperationResult>(
      this,
      [operation],
      packing.nameOf,
      async () => {
        this.#check(attempt, options);
        return [this.#attempt(attempt, () => act(operation))];
      },
    );
    if (error) throw error;
  }

  #attempt(attempt: Attempt, act: () => Refusal | undefined): OperationResult {
    const fault = this.fault(attempt.operation, attempt.target ?? '');
    if (fault) return fault;
    const refusal = act();
    return refusal === undefined ? undefined : refusalError(refusal, attempt);
  }

  #check({ operation }: Attempt, options: CallOptions): void {
    if (this.closed.aborted) throw closedError(operation);
    const fault = findCallOptionsFault(options);
    if (fault) throw argumentError(operation, fault);
    options.signal?.throwIfAborted();
  }
}
