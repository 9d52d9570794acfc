// A list of operations → one call of the addon → one result per operation.
import type { NativeClient } from './addon.js';
import { argumentError, invalidOperation } from './arguments.js';
import type { Calls } from './calls.js';
import { type Attempt, toNetlinkError } from './failures.js';
import { RecordWriter } from './recordWriter.js';
import { reported } from './reported.js';
import type { CallOptions, OperationResult } from './types.js';

/** How one family packs its operations. */
export interface Packing<Operation> {
  /** Name of the family: `ipvs`. */
  readonly family: string;
  /** Bytes of an operation record. */
  readonly recordSize: number;
  /** Writes one record; faults go to the writer. */
  write(operation: Operation, writer: RecordWriter): void;
  /** Names the operation in errors. Accepts operations that break every rule. */
  attempt(operation: Operation): Attempt;
  /** Names the operation in reports of batches: `addService`. Accepts operations that break every rule. */
  nameOf(operation: Operation): string;
}

/** Carries operations out as one call. An operation that breaks a rule is not sent, and has its error as result. */
export function applyAll<Operation, Client extends NativeClient>(
  calls: Calls<Client, Operation>,
  operations: readonly Operation[],
  packing: Packing<Operation>,
  options: CallOptions = {},
): Promise<OperationResult[]> {
  return reported(calls, operations, packing.nameOf, async () => {
    const writer = new RecordWriter(packing.recordSize, operations.length);
    const results = new Array<OperationResult>(operations.length).fill(undefined);
    const sent: { readonly operation: Operation; readonly place: number }[] = [];
    for (const [place, operation] of operations.entries()) {
      packing.write(operation, writer);
      const fault = writer.finish();
      if (fault) results[place] = invalidOperation(packing.attempt(operation), fault);
      else sent.push({ operation, place });
    }
    const whole = { operation: `${packing.family}.apply` };
    const failures = await calls.run(
      whole,
      (client) => client.apply(writer.records(), writer.tails()),
      options,
    );
    for (const failure of failures) {
      const one = sent[failure.index];
      if (one) results[one.place] = toNetlinkError(failure, packing.attempt(one.operation));
    }
    return results;
  });
}

/** Carries one operation out, or rejects with its error: NetlinkError, or TypeError and RangeError for a broken rule. */
export async function applyOne<Operation, Client extends NativeClient>(
  calls: Calls<Client, Operation>,
  operation: Operation,
  packing: Packing<Operation>,
  options: CallOptions = {},
): Promise<void> {
  const attempt = packing.attempt(operation);
  const writer = new RecordWriter(packing.recordSize, 1);
  packing.write(operation, writer);
  const fault = writer.finish();
  if (fault) throw argumentError(attempt.operation, fault);
  const [error] = await reported(calls, [operation], packing.nameOf, async () => {
    const [failure] = await calls.run(
      attempt,
      (client) => client.apply(writer.records(), writer.tails()),
      options,
    );
    return [failure && toNetlinkError(failure, attempt)];
  });
  if (error) throw error;
}
