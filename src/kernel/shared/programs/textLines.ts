// The lines of a text for the tools of the kernel, and such texts in pieces.
import type { Steps } from '../../steps.js';
import { TimeSlice } from '../../timeSlice.js';
import { argumentError } from '../arguments.js';

/** A text as a whole, or in pieces that are read one after another, as those of a file: in UTF-8 if they are bytes. */
export type TextInput = string | AsyncIterable<string | Uint8Array>;

/** Number of characters from which on a piece of output is long enough. */
const PIECE = 65_536;

export function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** Throws the error of a call whose text is not one. */
export function checkText(text: unknown, operation: string): void {
  if (typeof text === 'string') return;
  throw argumentError(operation, { field: 'text', value: text, rule: 'must be a string', wrongType: true });
}

/** The same for a text that may come in pieces. */
export function checkTextInput(text: unknown, operation: string): void {
  if (typeof text === 'string' || isAsyncIterable(text)) return;
  const rule = 'must be a string or an asynchronous iterable of its pieces';
  throw argumentError(operation, { field: 'text', value: text, rule, wrongType: true });
}

/** The lines of a text, without their ends. */
export function* linesIn(text: string): Generator<string, void> {
  let start = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    yield text.slice(start, end);
    start = end + 1;
  }
  yield text.slice(start);
}

/**
 * Calls `read` for each line, in time slices, and makes the steps that it returns for a long one. Rejects with the reason of an aborted
 * signal.
 *
 * @param operation the call, in errors
 */
export async function readLines(
  text: TextInput,
  read: (line: string) => Steps<void> | undefined,
  operation: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const slice = new TimeSlice();
  const decoder = new TextDecoder();
  let begun = '';
  for await (const piece of typeof text === 'string' ? [text] : text) {
    let last: string | undefined;
    for (const line of linesIn(decoded(piece, decoder, operation))) {
      if (last !== undefined) {
        const steps = read(begun + last);
        if (steps) await finish(steps, slice, signal);
        begun = '';
        if (slice.spend(1)) {
          await slice.yield();
          signal?.throwIfAborted();
        }
      }
      last = line;
    }
    begun += last ?? '';
    signal?.throwIfAborted();
  }
  const steps = read(begun + decoder.decode());
  if (steps) await finish(steps, slice, signal);
}

/** Makes all steps of a line. */
async function finish(steps: Steps<void>, slice: TimeSlice, signal: AbortSignal | undefined): Promise<void> {
  while (!steps.next().done) {
    if (!slice.spend()) continue;
    await slice.yield();
    signal?.throwIfAborted();
  }
}

/**
 * Joins lines to pieces of about 64 KiB. Other callbacks of the event loop run between two time slices.
 *
 * @param groups of lines, because a promise for each line costs more than the line; undefined: a step of up to a millisecond that
 * makes no line
 */
export async function* inPieces(
  groups: AsyncIterable<Iterable<string | undefined>>,
): AsyncGenerator<string, void, undefined> {
  const slice = new TimeSlice();
  // Joined at once: V8 keeps a text that was added from parts as a tree of them, which garbage collections copy.
  let piece: string[] = [];
  let length = 0;
  for await (const lines of groups) {
    for (const line of lines) {
      if (line === undefined) {
        if (slice.spend()) await slice.yield();
        continue;
      }
      piece.push(line);
      length += line.length + 1;
      if (length >= PIECE) {
        yield `${piece.join('\n')}\n`;
        piece = [];
        length = 0;
      }
      if (slice.spend(1)) await slice.yield();
    }
  }
  if (length > 0) yield `${piece.join('\n')}\n`;
}

/** The text of a piece, which other programs make. */
function decoded(
  piece: unknown,
  decoder: { decode(bytes: Uint8Array, options: { stream: true }): string },
  operation: string,
): string {
  if (typeof piece === 'string') return piece;
  if (piece instanceof Uint8Array) return decoder.decode(piece, { stream: true });
  const rule = 'must have pieces that are strings or Uint8Arrays';
  throw argumentError(operation, { field: 'text', value: piece, rule, wrongType: true });
}
