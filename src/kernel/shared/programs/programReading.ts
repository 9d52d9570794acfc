// The output of programs that is too long to be in memory as a whole, piece by piece.
import { loadAddon, type NativePiece, type NativeReading } from '../addon.js';
import { environment, ProgramError, reasonOf, startError } from './program.js';

/** Pieces are longer than this, except for the last one, and at most a pipe's capacity of 64 KiB longer, in bytes. */
const PIECE = 64 * 1024;
/** Default of {@link ReadingOptions.timeout}, in ms. */
const TIMEOUT = 30_000;
/** Default of {@link ReadingOptions.maxOutput}, in bytes. */
const MAX_OUTPUT = 1024 * 1024 * 1024;
/** Maximum of standard error, in bytes. */
const MAX_ERRORS = 1024 * 1024;

/** Options of {@link readProgram}. */
export interface ReadingOptions {
  /** Time in which the program must write the next piece, after which it is ended with SIGKILL, in ms; default 30 s. */
  readonly timeout?: number;
  /** Maximum of standard output as a whole, in bytes; default 1 GiB. */
  readonly maxOutput?: number;
}

/**
 * Runs a program, and reads its standard output. While no piece is awaited, the program waits as soon as a pipe is full. It ends with
 * the iteration, and at the latest with the thread that reads; its environment and its network namespace are those of `runProgram`.
 *
 * @throws {ProgramError} as `runProgram`, possibly after some pieces
 */
export async function* readProgram(
  program: string,
  args: readonly string[],
  { timeout = TIMEOUT, maxOutput = MAX_OUTPUT }: ReadingOptions = {},
): AsyncGenerator<Buffer, void, void> {
  const reading = startedReading(program, args);
  let length = 0;
  let last = false;
  try {
    while (!last) {
      const piece = await nextPiece(reading, program, timeout);
      last = piece.last;
      length += piece.bytes.length;
      if (length > maxOutput) throw tooLong(maxOutput);
      if (piece.bytes.length > 0) yield piece.bytes;
      const reason = last ? reasonOf(piece, timeout, MAX_ERRORS) : undefined;
      if (reason !== undefined) throw new ProgramError('ERR_PROCESS', reason, piece.signal > 0);
    }
  } finally {
    await reading.close();
  }
}

function startedReading(program: string, args: readonly string[]): NativeReading {
  try {
    return new (loadAddon().ProgramReading)([program, ...args], environment());
  } catch (error) {
    throw startError(program, error);
  }
}

async function nextPiece(reading: NativeReading, program: string, timeout: number): Promise<NativePiece> {
  try {
    return await reading.read(PIECE, timeout, MAX_ERRORS);
  } catch (error) {
    throw startError(program, error);
  }
}

function tooLong(maxOutput: number): ProgramError {
  return new ProgramError('ERR_PROCESS', `more than ${maxOutput} bytes of output`, true);
}
