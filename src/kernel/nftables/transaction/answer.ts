// The answer of the kernel to a transaction → one result for each operation. Pure.
import { NetlinkError, ROLLED_BACK } from '../../errors.js';
import { TRANSACTION_ANSWER, TRANSACTION_FAILURE } from '../../netlink/layouts.js';
import { attemptAt } from '../../shared/batch.js';
import { type Attempt, type Reported, toNetlinkError } from '../../shared/failures.js';
import { RecordReader } from '../../shared/records/recordReader.js';
import type { OperationResult } from '../../shared/types.js';
import { aligned } from '../../shared/wire/messages.js';
import { StepCounter, type Steps } from '../../steps.js';
import { hintFor } from '../hints.js';
import { NAMING } from '../names.js';
import type { NftablesOperation } from '../types.js';
import { type OperationPart, partAt } from './parts.js';

/** For a single message: a process without the right to change nf_tables is refused the whole transaction. */
const OWNED = 'another process owns the table (flag owner): until it ends, no other can change the table';

/** A message that the kernel refused. */
export interface Refused {
  /** Its place in the transaction; that of the message that begins it is 0. */
  readonly index: number;
  readonly errno: number;
  /** Place of the offending attribute in the message, in bytes; 0 if it is not known. */
  readonly offset: number;
  /** The text of the kernel; may be empty. */
  readonly text: string;
}

/** The answer to a transaction: none refused if it was committed. */
export interface Answer {
  readonly refused: Iterable<Refused>;
  /** More messages may have been refused. */
  readonly errorsLost: boolean;
  /** Errors of operations, by their places, of which the kernel knows nothing. */
  readonly errors?: ReadonlyMap<number, NetlinkError>;
}

/** Reads the answer that the addon returns. */
export function readAnswer(bytes: Uint8Array): Answer {
  const reader = new RecordReader(bytes);
  const errorsLost = reader.u8(TRANSACTION_ANSWER.errorsLost) === 1;
  reader.skip(TRANSACTION_ANSWER.SIZE);
  return { refused: readRefused(reader), errorsLost };
}

function* readRefused(reader: RecordReader): Generator<Refused, void> {
  const field = TRANSACTION_FAILURE;
  while (reader.hasMore) {
    const length = reader.u32(field.textLength);
    const text = Buffer.from(reader.bytes(field.SIZE, length)).toString();
    yield {
      index: reader.u32(field.index),
      errno: reader.u32(field.errno),
      offset: reader.u32(field.offset),
      text,
    };
    reader.skip(field.SIZE + aligned(length));
  }
}

/**
 * One result for each operation: undefined for all, or the errors of those that were refused, and `ERR_ROLLED_BACK` for the others.
 *
 * @param firstMessages the place of the first message of each operation
 */
export function* resultsInSteps(
  operations: readonly NftablesOperation[],
  firstMessages: readonly number[],
  { refused, errorsLost, errors: others }: Answer,
): Steps<OperationResult[]> {
  const errors = new Map<number, NetlinkError>(others);
  const counter = new StepCounter();
  for (const failure of refused) {
    const place = lastUpTo(firstMessages, failure.index);
    const operation = operations[place];
    // The first error of an operation is the cause of the later ones.
    if (operation !== undefined && !errors.has(place)) {
      const message = failure.index - (firstMessages[place] as number);
      const part = yield* partAt(operation, message, failure.offset);
      errors.set(place, errorOf(operation, failure, part));
    }
    if (counter.isFull()) yield;
  }
  if (errors.size === 0) return yield* everyResult(operations, () => undefined);
  const reason = rolledBackBy(errors, errorsLost);
  return yield* everyResult(operations, (operation, place) => {
    return errors.get(place) ?? rolledBack(operation, reason);
  });
}

/** The results of a transaction that failed as a whole, or was not sent: the same error for each. */
export function failedInSteps(
  operations: readonly NftablesOperation[],
  reported: Reported,
): Steps<OperationResult[]> {
  return everyResult(operations, (operation) => toNetlinkError(reported, attemptAt(operation, NAMING)));
}

/** The results of a transaction that was not sent, because some of its operations are invalid. */
export function unsentInSteps(
  operations: readonly NftablesOperation[],
  invalid: ReadonlyMap<number, NetlinkError>,
): Steps<OperationResult[]> {
  const reason = `${rolledBackBy(invalid, false)}; nothing was sent`;
  return everyResult(operations, (operation, place) => invalid.get(place) ?? rolledBack(operation, reason));
}

function* everyResult(
  operations: readonly NftablesOperation[],
  resultOf: (operation: NftablesOperation, place: number) => OperationResult,
): Steps<OperationResult[]> {
  const results: OperationResult[] = [];
  const counter = new StepCounter();
  for (let place = 0; place < operations.length; place++) {
    results.push(resultOf(operations[place] as NftablesOperation, place));
    if (counter.isFull()) yield;
  }
  return results;
}

function errorOf(
  operation: NftablesOperation,
  { errno, text }: Refused,
  part: OperationPart | undefined,
): NetlinkError {
  const attempt = attemptAt(operation, NAMING);
  const target = part === undefined ? attempt.target : `${attempt.target ?? ''} ${part.name}`;
  const hint = (code: string) => (code === 'EPERM' ? OWNED : hintFor(operation, code, part?.expression));
  const named: Attempt = { ...attempt, target, hint };
  return toNetlinkError({ errno, code: '', message: text }, named);
}

function rolledBack(operation: NftablesOperation, reason: string): NetlinkError {
  const { operation: name, target } = attemptAt(operation, NAMING);
  return new NetlinkError({ code: ROLLED_BACK, operation: name, target, kernelMessage: reason });
}

function rolledBackBy(errors: ReadonlyMap<number, NetlinkError>, errorsLost: boolean): string {
  const [first] = errors.values();
  const others = errors.size - 1;
  const more = others > 0 ? `, and ${others} more` : '';
  const lost = errorsLost ? ', and others whose errors were lost' : '';
  return `another operation of the transaction failed: ${first?.message ?? ''}${more}${lost}`;
}

/** The place of the last number that is at most `number`, in numbers that never fall. */
function lastUpTo(numbers: readonly number[], number: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] as number) <= number) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
