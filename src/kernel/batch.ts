// A list of operations → one call of the addon → one result per operation.
import type { NativeClient } from './addon.js';
import { argumentError, type Fault, invalidOperation } from './arguments.js';
import type { Calls } from './calls.js';
import { type Attempt, toNetlinkError } from './failures.js';
import { RecordWriter } from './recordWriter.js';
import { reported } from './reported.js';
import type { CallOptions, OperationResult } from './types.js';

/** The names of a family's operations, in errors and in reports. Both functions accept operations that break every rule. */
export interface Naming<Operation> {
  /** Name of the family: `ipvs`. */
  readonly family: string;
  /** Names the operation in errors. */
  attempt(operation: Operation): Attempt;
  /** Names the operation in reports of batches: `addService`. */
  nameOf(operation: Operation): string;
}

/** How one family packs its operations into records. */
export interface Packing<Operation> extends Naming<Operation> {
  /** Bytes of an operation record. */
  readonly recordSize: number;
  /** Writes one record; faults go to the writer. */
  write(operation: Operation, writer: RecordWriter): void;
}

/** Writes operations one after another into the bytes that the addon takes. */
export interface OperationWriter<Operation> {
  /** Writes an operation, or returns the rule that it breaks and writes nothing. */
  write(operation: Operation): Fault | undefined;
  /** The operations written so far. */
  bytes(): Uint8Array;
  /** The bytes of any length that they refer to, if the family has such operations. */
  tails?(): Uint8Array;
}

/** Carries operations out as one call. An operation that breaks a rule is not sent, and has its error as result. */
export function applyAll<Operation, Client extends NativeClient>(
  calls: Calls<Client, Operation>,
  operations: readonly Operation[],
  packing: Packing<Operation>,
  options: CallOptions = {},
): Promise<OperationResult[]> {
  return sendAll(calls, operations, packing, recordsOf(packing, operations.length), options);
}

/** Carries one operation out, or rejects with its error: NetlinkError, or TypeError and RangeError for a broken rule. */
export function applyOne<Operation, Client extends NativeClient>(
  calls: Calls<Client, Operation>,
  operation: Operation,
  packing: Packing<Operation>,
  options: CallOptions = {},
): Promise<void> {
  return sendOne(calls, operation, packing, recordsOf(packing, 1), options);
}

function recordsOf<Operation>(packing: Packing<Operation>, count: number): OperationWriter<Operation> {
  const writer = new RecordWriter(packing.recordSize, count);
  return {
    write(operation) {
      packing.write(operation, writer);
      return writer.finish();
    },
    bytes: () => writer.records(),
    tails: () => writer.tails(),
  };
}

/** As {@link applyAll}, with operations in any form that the addon's client takes. */
export function sendAll<Operation, Client extends NativeClient>(
  calls: Calls<Client, Operation>,
  operations: readonly Operation[],
  naming: Naming<Operation>,
  writer: OperationWriter<Operation>,
  options: CallOptions = {},
): Promise<OperationResult[]> {
  return reported(calls, operations, naming.nameOf, async () => {
    const results = new Array<OperationResult>(operations.length).fill(undefined);
    const sent: { readonly operation: Operation; readonly place: number }[] = [];
    for (const [place, operation] of operations.entries()) {
      const fault = writer.write(operation);
      if (fault) results[place] = invalidOperation(naming.attempt(operation), fault);
      else sent.push({ operation, place });
    }
    const whole = { operation: `${naming.family}.apply` };
    const failures = await calls.run(whole, (client) => client.apply(writer.bytes(), writer.tails?.()), options);
    for (const failure of failures) {
      const one = sent[failure.index];
      if (one) results[one.place] = toNetlinkError(failure, naming.attempt(one.operation));
    }
    return results;
  });
}

/** As {@link applyOne}, with an operation in any form that the addon's client takes. */
export async function sendOne<Operation, Client extends NativeClient>(
  calls: Calls<Client, Operation>,
  operation: Operation,
  naming: Naming<Operation>,
  writer: OperationWriter<Operation>,
  options: CallOptions = {},
): Promise<void> {
  const attempt = naming.attempt(operation);
  const fault = writer.write(operation);
  if (fault) throw argumentError(attempt.operation, fault);
  const [error] = await reported(calls, [operation], naming.nameOf, async () => {
    const [failure] = await calls.run(attempt, (client) => client.apply(writer.bytes(), writer.tails?.()), options);
    return [failure && toNetlinkError(failure, attempt)];
  });
  if (error) throw error;
}
