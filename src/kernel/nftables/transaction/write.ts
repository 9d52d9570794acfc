// The operations of a transaction → its messages, from the one that begins it to the one that ends it, in pieces and in steps.
import type { NetlinkError } from '../../errors.js';
import { type InvalidValue, invalidOperation } from '../../shared/arguments.js';
import { attemptAt } from '../../shared/batch.js';
import { ByteWriter } from '../../shared/wire/byteWriter.js';
import { MESSAGE_HEADER } from '../../shared/wire/messages.js';
import { StepCounter, type Steps } from '../../steps.js';
import { OperationEncoder } from '../encode/operations.js';
import { NAMING } from '../names.js';
import { NFGEN_HEADER, SUBSYSTEM } from '../numbers.js';
import type { ElementBytes, NftablesOperation } from '../types.js';

/** `NFNL_MSG_BATCH_BEGIN`, `NFNL_MSG_BATCH_END` */
export const BATCH = { begin: 16, end: 17 } as const;
/** `NFNL_BATCH_GENID` */
const BATCH_GENERATION = 1;

/** A piece ends with the operation that makes it so long, in bytes: the addon copies one without blocking the event loop. */
const PIECE = 262_144;
/** The most elements that are written in one step. */
const ELEMENTS_AT_ONCE = 1024;

/** A transaction as messages. */
export interface WrittenTransaction {
  /** Whole messages. The last piece is valid until {@link release}. */
  readonly pieces: readonly Uint8Array[];
  /** The place of the first message of each operation; that of the message that begins the transaction is 0. */
  readonly firstMessages: readonly number[];
  /** Number of messages between the first and the last. */
  readonly messages: number;
  /** Operations that break a rule: the transaction must not be sent. */
  readonly invalid: ReadonlyMap<number, NetlinkError>;
  /** Lets another transaction use the memory of the last piece. */
  release(): void;
}

interface Writing {
  readonly bytes: ByteWriter;
  readonly encoder: OperationEncoder;
}

function newWriting(): Writing {
  const bytes = new ByteWriter();
  return { bytes, encoder: new OperationEncoder(bytes) };
}

/** Of the last transaction: memory that has grown already. */
let spare: Writing | undefined;

function takeWriting(): Writing {
  const writing = spare ?? newWriting();
  spare = undefined;
  writing.bytes.truncate(0);
  return writing;
}

/** Writes a transaction. All operations are checked, and after the first that is invalid nothing is kept. */
export function* writeInSteps(
  operations: readonly NftablesOperation[],
  generation: number | undefined,
): Steps<WrittenTransaction> {
  const writing = takeWriting();
  const { bytes, encoder } = writing;
  const pieces: Uint8Array[] = [];
  const firstMessages: number[] = [];
  const invalid = new Map<number, NetlinkError>();
  const counter = new StepCounter();
  let messages = 0;
  const full = () => {
    if (bytes.length < PIECE && invalid.size === 0) return;
    if (invalid.size === 0) pieces.push(new Uint8Array(bytes.written()));
    bytes.truncate(0);
  };
  encoder.begin();
  writeFrame(bytes, BATCH.begin, generation);
  for (let place = 0; place < operations.length; place++) {
    const operation = operations[place] as NftablesOperation;
    firstMessages.push(1 + messages);
    for (const part of partsOf(operation)) {
      const found = encoder.write(part.operation);
      messages += encoder.messages;
      if (found) {
        const broken = { ...found, field: shifted(found.field, part.from) };
        invalid.set(place, invalidOperation(attemptAt(operation, NAMING), broken));
        break;
      }
      full();
      if (part.isLong) yield;
    }
    if (counter.isFull()) yield;
  }
  writeFrame(bytes, BATCH.end, undefined);
  pieces.push(bytes.written());
  return {
    pieces,
    firstMessages,
    messages,
    invalid,
    release: () => {
      spare = writing;
    },
  };
}

/** A part of an operation that is written at once. */
export interface Part {
  readonly operation: NftablesOperation;
  /** Place of its first element in the operation. */
  readonly from: number;
  readonly isLong: boolean;
}

/** The parts of an operation: one, unless it has many elements. */
export function partsOf(operation: NftablesOperation): Iterable<Part> {
  const length = hasElements(operation) ? lengthOf(operation.elements) : 0;
  return length > ELEMENTS_AT_ONCE
    ? longParts(operation as ElementsOperation, length)
    : [{ operation, from: 0, isLong: false }];
}

type ElementsOperation = Extract<NftablesOperation, { elements: unknown }>;
type Elements = ElementsOperation['elements'];

function hasElements(operation: NftablesOperation | undefined): operation is ElementsOperation {
  return operation?.do === 'addElements' || operation?.do === 'deleteElements';
}

/** The number of elements; 0 for what is certainly invalid. */
function lengthOf(elements: Elements | undefined): number {
  if (Array.isArray(elements)) return elements.length;
  const { count, keys } = (elements ?? {}) as Partial<ElementBytes>;
  const isLikely = keys instanceof Uint8Array && Number.isInteger(count) && (count as number) <= keys.length;
  return isLikely ? (count as number) : 0;
}

function* longParts(operation: ElementsOperation, length: number): Generator<Part, void> {
  for (let from = 0; from < length; from += ELEMENTS_AT_ONCE) {
    const elements = someOf(operation.elements, from, Math.min(length, from + ELEMENTS_AT_ONCE));
    yield { operation: { ...operation, elements } as NftablesOperation, from, isLong: true };
  }
}

/** The elements from one place up to another. */
function someOf(elements: Elements, from: number, to: number): Elements {
  if (!('count' in elements)) return elements.slice(from, to);
  const { count } = elements;
  const cut = (bytes: Uint8Array) =>
    bytes.subarray((from * bytes.length) / count, (to * bytes.length) / count);
  const { data } = elements as ElementBytes;
  return { count: to - from, keys: cut(elements.keys), ...(data && { data: cut(data) }) };
}

/** The path of a field with the place of the element in the whole list. */
function shifted(field: string, from: number): string {
  if (from === 0) return field;
  return field.replace(/^elements\[(\d+)\]/, (_, index: string) => `elements[${Number(index) + from}]`);
}

function writeFrame(bytes: ByteWriter, type: number, generation: number | undefined): void {
  bytes
    .u32(MESSAGE_HEADER + NFGEN_HEADER + (generation === undefined ? 0 : 8))
    .u16(type)
    .u16(0)
    .zeros(8)
    .u16(0)
    .u16be(SUBSYSTEM);
  if (generation !== undefined) bytes.put(BATCH_GENERATION, () => bytes.u32be(generation));
}

/** The first rule that an operation breaks. */
export function findInvalidOperation(operation: NftablesOperation): InvalidValue | undefined {
  const { encoder } = takeWriting();
  encoder.begin();
  for (const { operation: part, from } of partsOf(operation)) {
    const found = encoder.write(part);
    if (found) return { ...found, field: shifted(found.field, from) };
  }
  return undefined;
}

/** The messages of an operation, part by part. The bytes are valid until the next part. */
export function* messagesOf(
  operation: NftablesOperation,
): Generator<Part & { readonly bytes: Uint8Array; readonly count: number }, void> {
  const { bytes, encoder } = newWriting();
  encoder.begin();
  for (const part of partsOf(operation)) {
    bytes.truncate(0);
    encoder.write(part.operation);
    yield { ...part, bytes: bytes.written(), count: encoder.messages };
  }
}
