// Programs of the kernel's tools: iptables-save and -restore, modprobe. The addon starts them, because Node.js's child_process copies
// the page tables of this process for each (fork), for which the event loop waits.
import { constants as access } from 'node:fs';
import * as files from 'node:fs/promises';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { loadAddon, type NativeEnd, type NativeError, type NativeResult } from '../addon.js';
import { errnoName } from '../failures.js';

/** Default time limit of a program, in ms; longer than the 5 s for which iptables waits for its lock. */
const TIMEOUT = 30_000;
/** Default maximum of its output, in bytes: the list of a chain with many foreign rules. */
const MAX_OUTPUT = 256 * 1024 * 1024;

const SIGNAL_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name]),
);

/** Options of {@link runProgram}. */
export interface ProgramOptions {
  /** Standard input, in pieces, which nobody may change while the program runs; default empty. */
  readonly input?: readonly Uint8Array[];
  /** Time after which the program is ended with SIGKILL, in ms; default 30 s. */
  readonly timeout?: number;
  /** Maximum of standard output, and of standard error, in bytes; default 256 MiB. */
  readonly maxOutput?: number;
}

/**
 * A program that could not be started, or failed. Its message is what the program wrote to standard error, if there is anything.
 */
export class ProgramError extends Error {
  /** The errno name of a program that could not be started (`ENOENT`), else `ERR_PROCESS`. */
  readonly code: string;
  /** Whether a signal or a limit ended it. */
  readonly interrupted: boolean;

  constructor(code: string, message: string, interrupted = false) {
    super(message);
    this.name = 'ProgramError';
    this.code = code;
    this.interrupted = interrupted;
  }
}

/**
 * Runs a program to its end, without blocking the event loop. It has the environment of this process, and the network namespace of
 * the thread that calls; it ends at the latest with that thread, unless a signal ends this process.
 *
 * @param program its name, which is looked up in `PATH`, or its path
 * @returns its standard output
 * @throws {ProgramError} if it cannot be started, exits with another status than 0, is ended by a signal or exceeds a limit
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  { input = [], timeout = TIMEOUT, maxOutput = MAX_OUTPUT }: ProgramOptions = {},
): Promise<Buffer> {
  const end = await started(program, args, input, timeout, maxOutput);
  const reason = reasonOf(end, timeout, maxOutput);
  if (reason === undefined) return end.output;
  throw new ProgramError('ERR_PROCESS', reason, end.signal > 0);
}

async function started(
  program: string,
  args: readonly string[],
  input: readonly Uint8Array[],
  timeout: number,
  maxOutput: number,
): Promise<NativeResult> {
  try {
    return await loadAddon().runProgram([program, ...args], environment(), input, timeout, maxOutput);
  } catch (error) {
    throw startError(program, error);
  }
}

/** The environment variables of this process: `NAME=value`. */
export function environment(): string[] {
  return Object.entries(process.env).map(([name, value]) => `${name}=${value}`);
}

/** The file behind a program's name in `PATH`, without symbolic links; undefined if there is none that can be run. */
export async function programFile(program: string): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    try {
      const file = await files.realpath(join(folder, program));
      await files.access(file, access.X_OK);
      return file;
    } catch {
      // The next folder may have it.
    }
  }
  return undefined;
}

/** The error for a program that the addon could not start. Other errors are returned as they are. */
export function startError(program: string, error: unknown): unknown {
  const { errno = 0 } = error as Partial<NativeError>;
  if (errno === 0) return error;
  const code = errnoName(errno);
  return new ProgramError(code, `spawn ${program} ${code}`);
}

/** The reason why a program failed; undefined if it did not. */
export function reasonOf(
  { status, signal, killed, errors }: NativeEnd,
  timeout: number,
  maxOutput: number,
  expected = 'end',
): string | undefined {
  if (killed === 'late') return `no ${expected} after ${timeout} ms`;
  if (killed === 'long') return `more than ${maxOutput} bytes of output`;
  if (status === 0 && signal === 0) return undefined;
  const how =
    signal > 0 ? `ended by ${SIGNAL_NAMES.get(signal) ?? `signal ${signal}`}` : `ended with status ${status}`;
  return errors.trim() || how;
}
