// Programs that run for long: they read their input part by part, and acknowledge each part in their output.
import { loadAddon, type NativeAnswer, type NativeSession } from '../addon.js';
import { environment, reasonOf, startError } from './program.js';

/** Maximum of the output during one exchange, in bytes. */
const MAX_OUTPUT = 16 * 1024 * 1024;
/** Time in which a program must end when its input is closed, in ms. */
const END_TIMEOUT = 5000;

/** The answer of a program to a part of its input. */
export interface Answer {
  /** Whether the program acknowledged the part, and still runs. Otherwise it has ended, and the session with it. */
  readonly acknowledged: boolean;
  /** Whether any of the part was written. Otherwise the program had ended before. */
  readonly written: boolean;
  /** Standard output since the last acknowledgement, and possibly a rest of the output before it. */
  readonly output: Buffer;
  /** Why the program ended, if it did: its standard error, or else how it ended. */
  readonly reason: string | undefined;
  /** Whether a signal ended it, so that output may be lost that it had not written yet. */
  readonly interrupted: boolean;
}

/** A program with its arguments, which the first exchange starts. It ends at the latest with the thread that uses it. */
export class ProgramSession {
  readonly #program: string;
  readonly #session: NativeSession;

  /**
   * @param program its name, which is looked up in `PATH`, or its path
   * @throws {ProgramError} if there is none that can be run
   */
  constructor(program: string, args: readonly string[]) {
    this.#program = program;
    try {
      this.#session = new (loadAddon().ProgramSession)([program, ...args], environment());
    } catch (error) {
      throw startError(program, error);
    }
  }

  /**
   * Writes a part of the input, and waits until the output has the text of the acknowledgement, or until the program has ended. Call
   * it when the last exchange has ended.
   *
   * @param input in pieces, which are not copied: nobody may change them until the exchange has ended
   * @param timeout in ms; the program is then ended with SIGKILL
   * @throws {ProgramError} if the program cannot be started
   */
  async exchange(input: readonly Uint8Array[], acknowledgement: string, timeout: number): Promise<Answer> {
    let answer: NativeAnswer;
    try {
      answer = await this.#session.exchange(input, acknowledgement, timeout, MAX_OUTPUT);
    } catch (error) {
      throw startError(this.#program, error);
    }
    const { acknowledged, written, output, signal } = answer;
    return {
      acknowledged,
      written: written > 0,
      output,
      reason: acknowledged
        ? undefined
        : (reasonOf(answer, timeout, MAX_OUTPUT, 'answer') ?? 'ended without an answer'),
      interrupted: signal > 0,
    };
  }

  /** Closes the input of the program, and waits for its end. */
  close(): Promise<void> {
    return this.#session.close(END_TIMEOUT);
  }
}
