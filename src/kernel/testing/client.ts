// The common part of the fakes of netlink clients. They share the rules for arguments and the errors with the real ones.
import { argumentError, invalidOperation } from '../arguments.js';
import type { Packing } from '../batch.js';
import { type Attempt, closedError, toNetlinkError } from '../failures.js';
import { RecordWriter } from '../recordWriter.js';
import { reported } from '../reported.js';
import type { Batch, BatchSource, OperationResult } from '../types.js';
import type { Fault, Faults } from './faults.js';

/** Carries an operation out. Returns the number of the kernel's error, or undefined when it is done. */
export type Act<Operation> = (operation: Operation) => number | undefined;

/** A fake of a client: fails on demand, reports its batches, and can be closed. */
export class FakeClient<Change> implements Faults, BatchSource<Change> {
  onBatch: ((batch: Batch<Change>) => void) | undefined = undefined;
  fault: Fault = () => undefined;
  readFault: Fault = () => undefined;
  #closed = false;

  /** As with the real one, later calls reject with ERR_CLOSED. The fake keeps its state. */
  close(): void {
    this.#closed = true;
  }

  /** A call that reads. Rejects with its fault. */
  protected async read<T>(attempt: Attempt, act: () => T): Promise<T> {
    this.#checkOpen(attempt);
    const fault = this.readFault(attempt.operation, attempt.target ?? '');
    if (fault) throw fault;
    return act();
  }

  /** A change that is no batch. Rejects with its fault. */
  protected async change<T>(attempt: Attempt, act: () => T): Promise<T> {
    this.#checkOpen(attempt);
    const fault = this.fault(attempt.operation, attempt.target ?? '');
    if (fault) throw fault;
    return act();
  }

  protected applyAll<Operation extends Change>(
    operations: readonly Operation[],
    packing: Packing<Operation>,
    act: Act<Operation>,
  ): Promise<OperationResult[]> {
    return reported<Operation, OperationResult>(this, operations, packing.nameOf, async () =>
      this.results(operations, packing, act),
    );
  }

  /** The results of a batch, which is not reported. */
  protected results<Operation>(
    operations: readonly Operation[],
    packing: Packing<Operation>,
    act: Act<Operation>,
  ): OperationResult[] {
    this.#checkOpen({ operation: `${packing.family}.apply` });
    const writer = new RecordWriter(packing.recordSize, 1);
    return operations.map((operation) => {
      packing.write(operation, writer);
      const broken = writer.finish();
      const attempt = packing.attempt(operation);
      if (broken) return invalidOperation(attempt, broken);
      writer.reset();
      return this.#attempt(attempt, () => act(operation));
    });
  }

  protected async applyOne<Operation extends Change>(
    operation: Operation,
    packing: Packing<Operation>,
    act: Act<Operation>,
  ): Promise<void> {
    const attempt = packing.attempt(operation);
    const writer = new RecordWriter(packing.recordSize, 1);
    packing.write(operation, writer);
    const broken = writer.finish();
    if (broken) throw argumentError(attempt.operation, broken);
    const [error] = await reported<Operation, OperationResult>(
      this,
      [operation],
      packing.nameOf,
      async () => {
        this.#checkOpen(attempt);
        return [this.#attempt(attempt, () => act(operation))];
      },
    );
    if (error) throw error;
  }

  #attempt(attempt: Attempt, act: () => number | undefined): OperationResult {
    const fault = this.fault(attempt.operation, attempt.target ?? '');
    if (fault) return fault;
    const errno = act();
    return errno === undefined ? undefined : toNetlinkError({ errno, code: '', message: '' }, attempt);
  }

  #checkOpen({ operation }: Attempt): void {
    if (this.#closed) throw closedError(operation);
  }
}
