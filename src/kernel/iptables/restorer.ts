// One iptables-restore that runs for long and makes the changes of a family, so that a change starts no process.
//
// With --verbose, the program prints comments back. One after each COMMIT, with a number, acknowledges the table. The C library
// holds output to a pipe back until its buffer is full, and the buffer has the size of a page at most, so that comments of that
// size after the last number make the program write it. A pseudo-terminal, which C libraries do not buffer, would need devpts in
// the container, and stdbuf(1) is missing in small images.
import { performance } from 'node:perf_hooks';
import { loadAddon } from '../shared/addon.js';
import { ProgramError, programFile, runProgram } from '../shared/programs/program.js';
import { type Answer, ProgramSession } from '../shared/programs/programSession.js';
import type { Outcome, RestoreFailure } from './results.js';
import type { RestoreTable } from './text.js';

/**
 * Keeps chains that are not named; waits for the lock, which legacy iptables has. With a time limit of its own, legacy iptables
 * sets an alarm, which interrupts the reading of the next change and so ends the program.
 */
const ARGUMENTS = ['--noflush', '-w'] as const;
/** Time limit of a restore, with the wait for the lock, and its part for each byte of the input, in ms. */
const TIMEOUT = 10_000;
const TIMEOUT_OF_BYTE = 0.05;
/**
 * The longest one, because no other change of the family is made meanwhile. For new chains with a rule each, iptables 1.8.9 with nf_tables
 * needs 12 s of CPU time for 50 000 (6.9 MB) and 51 s for 100 000; legacy 9 s for 200 000.
 */
const LONGEST_TIMEOUT = 300_000;
/** Default of {@link RestorerOptions.startTimeout}. */
const START_TIMEOUT = 10_000;
/** Time after which a long-lived program is tried again where none could be had, in ms. */
const RETRY_AFTER = 600_000;
/** One line of comments, in bytes. The program reads lines of up to 10 KiB. */
const COMMENT = Buffer.from(`#${' '.repeat(1022)}\n`);

/**
 * A program is replaced after so many bytes of input, after so many ms, or after an error. Small changes do not make it
 * grow, but it keeps the memory that one large input needs: 35 MB with nf_tables for 3 MB of input.
 */
const LONGEST_INPUT = 1_000_000;
const LONGEST_TIME = 3_600_000;

/** A program that has acknowledged its start. */
interface Running {
  readonly session: ProgramSession;
  /** When it started, in ms. */
  readonly since: number;
  /** Lines that it has read. */
  lines: number;
  /** Bytes that it has read, without its start. */
  bytes: number;
}

/** The clock and the time limit of a {@link Restorer}, for tests. */
export interface RestorerOptions {
  /** Monotonic time, in ms. */
  readonly now?: () => number;
  /** Time in which a new program must acknowledge that it runs, in ms; default 10 s. It has nothing to do but to start. */
  readonly startTimeout?: number;
}

/** Called when a program cannot run for long, or has been replaced. */
export interface RestorerEvents {
  /** Changes need a process each, because a long-lived one cannot be had. Called once. */
  fallback(program: string, reason: string): void;
  /** Another file has the name of the program: the backend of iptables was changed. */
  replaced(program: string, before: string, now: string): void;
}

/** The changes of one family. */
export class Restorer {
  readonly #program: string;
  readonly #events: RestorerEvents;
  readonly #now: () => number;
  readonly #startTimeout: number;
  /** The program, while it starts or runs; resolves to undefined if none can be had. */
  #running: Promise<Running | undefined> | undefined;
  /** Ends with the last change. */
  #last: Promise<unknown> = Promise.resolve();
  /** The file of the program that was started last. */
  #file: string | undefined;
  /** Until then, in ms, each change has a process of its own. */
  #alone = 0;
  #reported = false;
  #closed = false;
  /** Number of the last mark. */
  #marks = 0;

  constructor(
    program: string,
    events: RestorerEvents,
    { now = () => performance.now(), startTimeout = START_TIMEOUT }: RestorerOptions = {},
  ) {
    this.#program = program;
    this.#events = events;
    this.#now = now;
    this.#startTimeout = startTimeout;
  }

  /** Restores tables, in order, when earlier calls have ended. They may still be written when it is called. */
  restore(tables: readonly RestoreTable[] | Promise<readonly RestoreTable[]>): Promise<Outcome> {
    // It is awaited below, when earlier calls have ended; until then nobody would handle its error.
    Promise.resolve(tables).catch(() => {});
    const outcome = this.#last.then(async () => this.#restore(await tables));
    this.#last = outcome.catch(() => {});
    return outcome;
  }

  /**
   * Ends the program if another file has its name now: what iptables-save prints would not be what it changes. Call it before each
   * reading of all rules.
   */
  follow(): Promise<void> {
    const following = this.#last.then(() => this.#follow());
    this.#last = following.catch(() => {});
    return following;
  }

  /** Lets changes already made finish, then ends the program. Later changes fail with ERR_CLOSED. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
    const running = await this.#running;
    this.#running = undefined;
    await running?.session.close();
  }

  async #restore(tables: readonly RestoreTable[]): Promise<Outcome> {
    if (tables.length === 0) return { program: this.#program, tables, committed: 0, failure: undefined };
    if (this.#closed) {
      return this.#failed(tables, { code: 'ERR_CLOSED', message: 'the client was closed', linesBefore: 0 });
    }
    // A program that was ended while it had nothing to do has taken nothing of the change.
    for (let attempt = 0; attempt < 2; attempt++) {
      const running = await this.#start();
      if (!running) break;
      const outcome = await this.#send(running, tables);
      if (outcome) return outcome;
    }
    return this.#restoreAlone(tables);
  }

  async #follow(): Promise<void> {
    const before = this.#file;
    if (before === undefined || this.#closed) return;
    const now = await programFile(this.#program);
    if (now === undefined || now === before) return;
    const running = await this.#running;
    this.#running = undefined;
    this.#file = now;
    this.#alone = 0;
    this.#events.replaced(this.#program, before, now);
    await running?.session.close();
  }

  async #start(): Promise<Running | undefined> {
    if (!this.#running && this.#now() >= this.#alone) this.#running = this.#open();
    const running = await this.#running;
    if (!running) this.#running = undefined;
    return running;
  }

  /** Starts a program, and waits until it acknowledges a mark. Never rejects. */
  async #open(): Promise<Running | undefined> {
    let reason: string;
    try {
      this.#file ??= await programFile(this.#program);
      const session = new ProgramSession(this.#program, ['--verbose', ...ARGUMENTS]);
      const mark = this.#nextMark();
      const answer = await session.exchange([Buffer.from(mark), ...padding()], mark, this.#startTimeout);
      if (answer.acknowledged) {
        return { session, since: this.#now(), lines: 1 + paddingLines(), bytes: 0 };
      }
      reason = String(answer.reason);
    } catch (error) {
      reason = (error as Error).message;
    }
    this.#alone = this.#now() + RETRY_AFTER;
    if (!this.#reported) this.#events.fallback(this.#program, reason);
    this.#reported = true;
    return undefined;
  }

  /** Returns undefined if the program had ended before. */
  async #send(running: Running, tables: readonly RestoreTable[]): Promise<Outcome | undefined> {
    const marks = tables.map(() => this.#nextMark());
    const input = [...marked(tables, marks), ...padding()];
    const size = sizeOf(input);
    const linesBefore = running.lines;
    let answer: Answer;
    try {
      answer = await running.session.exchange(input, marks.at(-1) ?? '', timeoutOf(size));
    } catch (error) {
      this.#running = undefined;
      return this.#failed(tables, failureOf(error, linesBefore));
    }
    if (answer.acknowledged) {
      running.lines += tables.reduce((sum, { lines }) => sum + lines + 1, paddingLines());
      running.bytes += size;
      this.#renew(running);
      return { program: this.#program, tables, committed: tables.length, failure: undefined };
    }
    this.#running = undefined;
    if (!answer.written) return undefined;
    const lost = marks.findIndex((mark) => !answer.output.includes(mark));
    const message = String(answer.reason);
    return {
      program: this.#program,
      tables,
      committed: lost,
      failure: { code: codeOf(answer.interrupted), message, linesBefore },
    };
  }

  /** Replaces a program that is due, before the next change needs it. */
  #renew({ session, since, bytes }: Running): void {
    if (bytes < LONGEST_INPUT && this.#now() - since < LONGEST_TIME) return;
    this.#running = this.#open();
    // At the latest, the program ends with its session, which nothing refers to any more.
    session.close().catch(() => {});
  }

  /** Makes the changes in a process of their own. */
  async #restoreAlone(tables: readonly RestoreTable[]): Promise<Outcome> {
    const marks = tables.map(() => this.#nextMark());
    const input = marked(tables, marks);
    try {
      await runProgram(this.#program, ARGUMENTS, { input, timeout: timeoutOf(sizeOf(input)) });
      return { program: this.#program, tables, committed: tables.length, failure: undefined };
    } catch (error) {
      return this.#failed(tables, failureOf(error, 0));
    }
  }

  #failed(tables: readonly RestoreTable[], failure: RestoreFailure): Outcome {
    return { program: this.#program, tables, committed: undefined, failure };
  }

  #nextMark(): string {
    return `# ${++this.#marks}\n`;
  }
}

/** The input for tables, each with its mark. */
function marked(tables: readonly RestoreTable[], marks: readonly string[]): Buffer[] {
  return tables.flatMap(({ input }, i) => [...input, Buffer.from(marks[i] as string)]);
}

function sizeOf(input: readonly Uint8Array[]): number {
  return input.reduce((sum, { length }) => sum + length, 0);
}

/** The time limit of a restore, in ms. @param size of its input, in bytes */
export function timeoutOf(size: number): number {
  return Math.min(Math.ceil(TIMEOUT + size * TIMEOUT_OF_BYTE), LONGEST_TIMEOUT);
}

function paddingLines(): number {
  return Math.ceil(loadAddon().pageSize / COMMENT.length);
}

function padding(): Buffer[] {
  return new Array<Buffer>(paddingLines()).fill(COMMENT);
}

function failureOf(error: unknown, linesBefore: number): RestoreFailure {
  if (!(error instanceof ProgramError)) throw error;
  const { code, message, interrupted } = error;
  return { code: code === 'ERR_PROCESS' ? codeOf(interrupted) : code, message, linesBefore };
}

/** A program that a signal or a time limit ended may have changed some tables. */
function codeOf(interrupted: boolean): string {
  return interrupted ? 'ERR_UNKNOWN_OUTCOME' : 'ERR_PROCESS';
}
