// A list of operations → one call of the addon → one result per operation.
import { StepCounter, type Steps } from '../steps.js';
import { TimeSlice } from '../timeSlice.js';
import type { NativeClient, NativeFailure, NativeStatus } from './addon.js';
import { argumentError, checkArray, type InvalidValue, invalidOperation, shown } from './arguments.js';
import type { Calls } from './calls.js';
import { type Attempt, toNetlinkError, withoutStack } from './failures.js';
import { RecordWriter } from './records/recordWriter.js';
import { reported, reportedBatch } from './reported.js';
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

/** Throws the error of a call whose list of operations is not an array. */
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

/** How one family packs its operations: into records, which C++ makes messages of, or into messages. */
export type Packing<Operation> = RecordPacking<Operation> | MessagePacking<Operation>;

/** How a family with records packs its operations. */
export interface RecordPacking<Operation> extends Naming<Operation> {
  /** Bytes of an operation record. */
  readonly recordSize: number;
  /** Writes one record; invalid values go to the writer. */
  write(operation: Operation, writer: RecordWriter): void;
}

/** How a family with messages packs its operations. */
export interface MessagePacking<Operation> extends Naming<Operation> {
  /** Writes the messages of a batch. */
  writer(): OperationWriter<Operation>;
}

/** Writes operations one after another into the bytes that the addon takes, portion by portion. */
export interface OperationWriter<Operation> {
  /** Begins a portion of at most so many operations. */
  begin(most: number): void;
  /** Writes an operation, or returns the rule that it breaks and writes nothing. */
  write(operation: Operation): InvalidValue | undefined;
  /** Size of the portion, in bytes. */
  readonly size: number;
  /** Sends the portion, which the client copies. */
  send(client: NativeClient): ReturnType<NativeClient['apply']>;
}

/**
 * Carries operations out as one call. An invalid operation is not sent, and has its error as result.
 *
 * @param changeOf the operation in the form that is reported, if it is another one
 */
export async function applyAll<Operation, Client extends NativeClient, Change = Operation>(
  calls: Calls<Client, Change>,
  operations: readonly Operation[],
  packing: Packing<Operation>,
  options?: CallOptions,
  changeOf?: (operation: Operation) => Change,
): Promise<OperationResult[]> {
  checkBatch(operations, packing);
  return sendAll(calls, operations, packing, writerOf(packing), options, changeOf);
}

/** Carries one operation out, or rejects with its error: NetlinkError, or TypeError and RangeError for a broken rule. */
export async function applyOne<Operation, Client extends NativeClient>(
  calls: Calls<Client, Operation>,
  operation: Operation,
  packing: Packing<Operation>,
  options?: CallOptions,
): Promise<void> {
  const writer = writerOf(packing);
  writer.begin(1);
  const invalid = writer.write(operation);
  const attempt = () => attemptAt(operation, packing);
  if (invalid) throw argumentError(attempt().operation, invalid);
  const send = async () => {
    const [failure] = await calls.run(attempt, (client) => writer.send(client), options);
    return [failure && toNetlinkError(failure, attempt())];
  };
  const [error] = await reported(calls, [operation], packing.nameOf, send);
  if (error) throw error;
}

/** The longest memory that is kept for the next batch, in bytes. */
const MOST_KEPT = 262_144;

/** A writer for the next batch of each family: memory for one operation costs more than to write it. */
const spare = new WeakMap<object, RecordWriter>();

/** Writes operations as a family packs them. */
export function writerOf<Operation>(packing: Packing<Operation>): OperationWriter<Operation> {
  return 'writer' in packing ? packing.writer() : recordsOf(packing);
}

function recordsOf<Operation>(packing: RecordPacking<Operation>): OperationWriter<Operation> {
  let writer: RecordWriter;
  return {
    begin(most) {
      const kept = spare.get(packing);
      spare.delete(packing);
      kept?.reset(most);
      writer = kept ?? new RecordWriter(packing.recordSize, most);
    },
    write(operation) {
      packing.write(operation, writer);
      return writer.finish();
    },
    get size() {
      return writer.size;
    },
    send(client) {
      const answer = client.apply(writer.records(), writer.tails());
      if (writer.capacity <= MOST_KEPT) spare.set(packing, writer);
      return answer;
    },
  };
}

/** As {@link applyAll}, with operations in any form that the addon's client takes. */
export function sendAll<Operation, Client extends NativeClient, Change = Operation>(
  calls: Calls<Client, Change>,
  operations: readonly Operation[],
  naming: Naming<Operation>,
  writer: OperationWriter<Operation>,
  options?: CallOptions,
  changeOf?: (operation: Operation) => Change,
): Promise<OperationResult[]> {
  // The caller may change its array while operations are still to be written.
  const own = operations.length > AT_ONCE ? operations.slice() : operations;
  const batch = {
    operations: () => (changeOf ? own.map(changeOf) : (own as readonly unknown[] as readonly Change[])),
    names: () => own.map(naming.nameOf),
  };
  return reportedBatch(calls, batch, async () => {
    const sending = new Sending(own, naming, writer);
    const whole = { operation: batchName(naming) };
    const only = sending.start();
    if (only) {
      const failures = await calls.run(whole, (client) => writer.send(client), options);
      if (failures.length > 0) await sending.note(only, failures);
    } else await calls.run(whole, (client) => sending.send(client, options?.signal), options);
    return sending.results;
  });
}

/** The most operations that are written without a turn of the event loop. */
const AT_ONCE = 64;

/** The most operations of a portion, which take a few ms to write, and to report if all of them fail. */
const PORTION = 1024;
/** A portion ends with the operation that makes it so long, in bytes. */
const PORTION_SIZE = 1_048_576;

/** Operations that are sent together. */
interface Portion {
  /** Place of the first one in the batch. */
  readonly from: number;
  /** Number of those that are sent. */
  readonly count: number;
  /** Their places in the batch; undefined if they follow one another. */
  readonly places: readonly number[] | undefined;
}

/** A batch that is sent in portions: while the kernel works on one, the next one is written. */
class Sending<Operation> {
  /** Grows with the portions: an array for a million results takes some ms. */
  readonly results: OperationResult[] = [];
  readonly #operations: readonly Operation[];
  readonly #naming: Naming<Operation>;
  readonly #writer: OperationWriter<Operation>;
  readonly #slice = new TimeSlice();
  /** Place of the next operation to write. */
  #next = 0;
  /** The first portion, which is being written, and when it is. */
  readonly #writing: Steps<Portion>;
  #first: Portion | undefined;
  /** The failure of all operations that are still to be sent. */
  #rest: NativeStatus | undefined;
  /** The name of the operation that failed last. */
  #name = '';

  constructor(
    operations: readonly Operation[],
    naming: Naming<Operation>,
    writer: OperationWriter<Operation>,
  ) {
    this.#operations = operations;
    this.#naming = naming;
    this.#writer = writer;
    this.#writing = this.#write();
  }

  /** Begins to write, for one time slice. Returns the portion if it is the only one, and is written. */
  start(): Portion | undefined {
    while (!this.#first) {
      const step = this.#writing.next();
      if (step.done) this.#first = step.value;
      else if (this.#slice.spend()) return undefined;
    }
    return this.#isWritten ? this.#first : undefined;
  }

  get #isWritten(): boolean {
    return this.#next === this.#operations.length;
  }

  /** Writes the next portion. An invalid operation has its error as result. */
  *#write(): Steps<Portion> {
    const from = this.#next;
    const most = Math.min(from + PORTION, this.#operations.length);
    const counter = new StepCounter();
    let places: number[] | undefined;
    this.#writer.begin(most - from);
    for (let size = 0; this.#next < most && size < PORTION_SIZE; size = this.#writer.size) {
      const place = this.#next++;
      const operation = this.#operations[place] as Operation;
      const invalid = this.#writer.write(operation);
      if (invalid) {
        places ??= Array.from({ length: place - from }, (_, i) => from + i);
        const attempt = attemptAt(operation, this.#naming);
        this.results.push(withoutStack(() => invalidOperation(attempt, invalid)));
      } else {
        this.results.push(undefined);
        places?.push(place);
      }
      if (counter.isFull()) yield;
    }
    return { from, count: places?.length ?? this.#next - from, places };
  }

  /** Makes errors of the failures of a portion. */
  note(portion: Portion, failures: readonly NativeFailure[]): Promise<void> {
    return this.#slice.finish(this.#note(portion, failures));
  }

  *#note({ from, places }: Portion, failures: readonly NativeFailure[]): Steps<void> {
    const counter = new StepCounter();
    for (const failure of failures) {
      const place = places ? places[failure.index] : from + failure.index;
      if (place === undefined) continue;
      const attempt = this.#sameName(attemptAt(this.#operations[place] as Operation, this.#naming));
      this.results[place] = withoutStack(() => toNetlinkError(failure, attempt));
      this.#rest ??= failure.rest;
      if (counter.isFull()) yield;
    }
  }

  /** Gives operations of one kind the same string as their name: the errors of a batch have one instead of many. */
  #sameName(attempt: Attempt): Attempt {
    if (attempt.operation !== this.#name) this.#name = attempt.operation;
    return { ...attempt, operation: this.#name };
  }

  /** Sends all portions. Rejects with the reason of an aborted signal, before the next portion. */
  async send(client: NativeClient, signal: AbortSignal | undefined): Promise<void> {
    let portion: Portion | undefined = this.#first ?? (await this.#slice.finish(this.#writing));
    while (portion) {
      signal?.throwIfAborted();
      const answer = this.#rest ? unsent(portion, this.#rest) : this.#writer.send(client);
      const next = this.#isWritten ? undefined : this.#slice.finish(this.#write());
      next?.catch(() => {}); // awaited below; the answer comes first
      const failures = await answer;
      await this.note(portion, failures);
      portion = await next;
    }
  }
}

/** The same failure for all operations of a portion. */
function unsent({ count }: Portion, rest: NativeStatus): NativeFailure[] {
  return Array.from({ length: count }, (_, index) => ({ index, ...rest }));
}
