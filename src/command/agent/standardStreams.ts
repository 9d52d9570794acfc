// Standard output and standard error. A write returns after the kernel has taken all of it, so that the process may end at any
// time. The streams of Node.js keep what a pipe does not take at once, and lose it when the process ends.
import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Nobody reads standard output any more. */
export class OutputClosed extends Error {
  constructor() {
    super('nobody reads standard output');
    this.name = 'OutputClosed';
  }
}

/** First and longest wait for a descriptor that another process has made nonblocking, in ms. */
const WAIT = { first: 1, longest: 16 } as const;

/** A descriptor that takes text. */
class StandardStream {
  readonly #descriptor: number;
  /** A part of the last text is missing: the next one begins a line. */
  #torn = false;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Writes all of it. Throws the error of the system call. */
  write(text: string): void {
    const bytes = Buffer.from(this.#torn ? `\n${text}` : text);
    let written = 0;
    let wait: number = WAIT.first;
    while (written < bytes.length) {
      try {
        written += writeSync(this.#descriptor, bytes, written);
        this.#torn = false;
        wait = WAIT.first;
      } catch (error) {
        if (codeOf(error) !== 'EAGAIN') {
          this.#torn ||= written > 0;
          throw error;
        }
        pause(wait);
        wait = Math.min(wait * 2, WAIT.longest);
      }
    }
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** Waits without a turn of the event loop, in ms. */
function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, milliseconds);
}

const OUTPUT = new StandardStream(1);
const ERRORS = new StandardStream(2);

/** Errors of a pipe and of a socket whose other end is closed. */
const CLOSED: ReadonlySet<unknown> = new Set(['EPIPE', 'ECONNRESET']);

/** Writes to standard output. Throws {@link OutputClosed}, and an Error if the text cannot be written. */
export function writeOutput(text: string): void {
  try {
    OUTPUT.write(text);
  } catch (error) {
    if (CLOSED.has(codeOf(error))) throw new OutputClosed();
    throw new Error(`standard output: ${(error as Error).message}`, { cause: error });
  }
}

/** Writes to standard error. A full disk or a closed terminal does not end the process: its error cannot be reported anywhere. */
export function writeError(text: string): void {
  try {
    ERRORS.write(text);
  } catch {
    // See above.
  }
}

/** The terminal of standard error; undefined if it is something else. See {@link outputTerminal}. */
export function errorsTerminal(): NodeJS.WriteStream | undefined {
  return isatty(2) ? process.stderr : undefined;
}

/**
 * The terminal of standard output; undefined if it is something else. The stream of Node.js for a pipe is not opened: it would make the
 * pipe nonblocking, also for other processes that have it.
 */
export function outputTerminal(): NodeJS.WriteStream | undefined {
  return isatty(1) ? process.stdout : undefined;
}
