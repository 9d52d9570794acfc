// A list of operations → one call of the addon → one result per operation.
import type { NativeClient } from './addon.js';
import { argumentError, checkArray, type Fault, invalidOperation, shown } from './arguments.js';
import type { Calls } from './calls.js';
import { type Attempt, toNetlinkError } from './failures.js';
import { RecordWriter } from './recordWriter.js';
import { reported } from './reported.js';
import type { CallOptions, OperationResult } from './types.js';

/** The names of a family's operations, in errors and in reports. Both functions accept operations that break every rule. */
export interface Naming<Operation> {
  /** Name of the family: `ipvs`. */
  readonly family: string;
  /** The verb that takes a list of operations, and its argument. Default `apply` and `operations`. */
  readonly batchVerb?: string;
  readonly batchArgument?: string;
  /** Names the operation in errors. */
  attempt(operation: Operation): Attempt;
  /** Names the operation in reports of batches: `addService`. */
  nameOf(operation: Operation): string;
}

/** The name of the call that takes a list of operations: `ipvs.apply`. */
export function batchName({ family, batchVerb = 'apply' }: Naming<never>): string {
  return `${family}.${batchVerb}`;
}

/** Throws the error of a call whose list of operations is no array. */
export function checkBatch(operations: unknown, naming: Naming<never>): void {
  checkArray(batchName(naming), naming.batchArgument ?? 'operations', operations);
}

/** Names an operation, also one with values that have no text. */
export function attemptAt<Operation>(operation: Operation, naming: Naming<Operation>): Attempt {
  try {
    const attempt = naming.attempt(operation);
    const { target } = attempt;
    return target === undefined || typeof target === 'string'
      ? attempt
      : { ...attempt, target: shown(target) };
  } catch {
    const verb = (operation as { readonly do?: unknown }).do;
    return { operation: typeof verb === 'string' ? `${naming.family}.${verb}` : batchName(naming) };
  }
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
  /** Sends the operations written so far, which the client copies. Called once. */
  send(client: NativeClient): ReturnType<NativeClient['apply']>;
}

/** Carries operations out as one call. An operation that breaks a rule is not sent, and has its error as result. */
export async function applyAll<Operation, Client extends NativeClient>(
  calls: Calls<Client, Operation>,
  operations: readonly Operation[],
  packing: Packing<Operation>,
  options?: CallOptions,
): Promise<OperationResult[]> {
  checkBatch(operations, packing);
  return sendAll(calls, operations, packing, recordsOf(packing, operations.length), options);
}

/** Carries one operation out, or rejects with its error: NetlinkError, or TypeError and RangeError for a broken rule. */
export function applyOne<Operation, Client extends NativeClient>(
  calls: Calls<Client, Operation>,
  operation: Operation,
  packing: Packing<Operation>,
  options?: CallOptions,
): Promise<void> {
  return sendOne(calls, operation, packing, recordsOf(packing, 1), options);
}

/** The longest memory that is kept for the next batch, in bytes. */
const MOST_KEPT = 262_144;

/** A writer for the next batch of each family: memory for one operation costs more than to write it. */
const spare = new WeakMap<object, RecordWriter>();

function recordsOf<Operation>(packing: Packing<Operation>, count: number): OperationWriter<Operation> {
  const kept = spare.get(packing);
  spare.delete(packing);
  kept?.reset(count);
  const writer = kept ?? new RecordWriter(packing.recordSize, count);
  return {
    write(operation) {
      packing.write(operation, writer);
      return writer.finish();
    },
    send(client) {
      const answer = client.apply(writer.records(), writer.tails());
      if (writer.capacity <= MOST_KEPT) spare.set(packing, writer);
      return answer;
    },
  };
}

/** As {@link applyAll}, with operations in any form that the addon's client takes. */
export function sendAll<Operation, Client extends NativeClient>(
  calls: Calls<Client, Operation>,
  operations: readonly Operation[],
  naming: Naming<Operation>,
  writer: OperationWriter<Operation>,
  options?: CallOptions,
): Promise<OperationResult[]> {
  return reported(calls, operations, naming.nameOf, async () => {
    const results = new Array<OperationResult>(operations.length).fill(undefined);
    // Places of the operations that are sent; undefined while these are all.
    let sent: number[] | undefined;
    for (let place = 0; place < operations.length; place++) {
      const operation = operations[place] as Operation;
      const fault = writer.write(operation);
      if (fault) {
        sent ??= Array.from({ length: place }, (_, i) => i);
        results[place] = invalidOperation(attemptAt(operation, naming), fault);
      } else sent?.push(place);
    }
    const whole = { operation: batchName(naming) };
    const failures = await calls.run(whole, (client) => writer.send(client), options);
    for (const failure of failures) {
      const place = sent ? sent[failure.index] : failure.index;
      if (place === undefined) continue;
      results[place] = toNetlinkError(failure, attemptAt(operations[place] as Operation, naming));
    }
    return results;
  });
}

/** As {@link applyOne}, with an operation in any form that the addon's client takes. */
async function sendOne<Operation, Client extends NativeClient>(
  calls: Calls<Client, Operation>,
  operation: Operation,
  naming: Naming<Operation>,
  writer: OperationWriter<Operation>,
  options?: CallOptions,
): Promise<void> {
  const fault = writer.write(operation);
  const attempt = () => attemptAt(operation, naming);
  if (fault) throw argumentError(attempt().operation, fault);
  const send = async () => {
    const [failure] = await calls.run(attempt, (client) => writer.send(client), options);
    return [failure && toNetlinkError(failure, attempt())];
  };
  const [error] = await reported(calls, [operation], naming.nameOf, send);
  if (error) throw error;
}
