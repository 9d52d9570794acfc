// A list of operations → one call of the addon → one result per operation.
import type { NativeClient } from './addon.js';
import type { Calls } from './calls.js';
import { type Attempt, toNetlinkError } from './failures.js';
import { argumentError, invalidOperation, RecordWriter } from './fields.js';
import type { OperationResult } from './ipvs/types.js';

/** How one family packs its operations. */
export interface Packing<Operation> {
  /** Name of the family: `ipvs`. */
  readonly family: string;
  /** Bytes of an operation record. */
  readonly recordSize: number;
  /** Writes one record; faults go to the writer. */
  write(operation: Operation, writer: RecordWriter): void;
  /** Names the operation in errors. Must bear an operation that breaks every rule. */
  attempt(operation: Operation): Attempt;
}

/** Carries operations out as one call; one that breaks a rule is left out, and has its error as result. */
export async function applyAll<Operation, Client extends NativeClient>(
  calls: Calls<Client>,
  operations: readonly Operation[],
  packing: Packing<Operation>,
): Promise<OperationResult[]> {
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
  const failures = await calls.run(whole, (client) => client.apply(writer.records()));
  for (const failure of failures) {
    const one = sent[failure.index];
    if (one) results[one.place] = toNetlinkError(failure, packing.attempt(one.operation));
  }
  return results;
}

/** Carries one operation out, or rejects with its error: NetlinkError, or TypeError and RangeError for a broken rule. */
export async function applyOne<Operation, Client extends NativeClient>(
  calls: Calls<Client>,
  operation: Operation,
  packing: Packing<Operation>,
): Promise<void> {
  const attempt = packing.attempt(operation);
  const writer = new RecordWriter(packing.recordSize, 1);
  packing.write(operation, writer);
  const fault = writer.finish();
  if (fault) throw argumentError(attempt.operation, fault);
  const [failure] = await calls.run(attempt, (client) => client.apply(writer.records()));
  if (failure) throw toNetlinkError(failure, attempt);
}
