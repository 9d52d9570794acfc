// What the fakes of netlink clients have in common: the rules for arguments and the errors are those of the real ones.
import type { Packing } from '../kernel/batch.js';
import { type Attempt, closedError, toNetlinkError } from '../kernel/failures.js';
import { argumentError, invalidOperation, RecordWriter } from '../kernel/fields.js';
import type { OperationResult } from '../kernel/ipvs/types.js';
import type { Fault, Faults } from './faults.js';

/** Carries an operation out: the number with which the kernel refuses it, or undefined when it is done. */
export type Act<Operation> = (operation: Operation) => number | undefined;

/** A fake of a client: fails on demand, and ends. */
export class FakeClient implements Faults {
  fault: Fault = () => undefined;
  readFault: Fault = () => undefined;
  #closed = false;

  /** As the real one: later calls reject with ERR_CLOSED. What the fake holds stays. */
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

  protected async applyAll<Operation>(
    operations: readonly Operation[],
    packing: Packing<Operation>,
    act: Act<Operation>,
  ): Promise<OperationResult[]> {
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

  protected async applyOne<Operation>(
    operation: Operation,
    packing: Packing<Operation>,
    act: Act<Operation>,
  ): Promise<void> {
    const attempt = packing.attempt(operation);
    const writer = new RecordWriter(packing.recordSize, 1);
    packing.write(operation, writer);
    const broken = writer.finish();
    if (broken) throw argumentError(attempt.operation, broken);
    this.#checkOpen(attempt);
    const error = this.#attempt(attempt, () => act(operation));
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
