// The real command as a node agent, with its log.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { PATIENCE } from '../../laboratory/patience.js';
import { COMMAND, launched } from '../../laboratory/proxyProcess.js';
import { ROOT } from '../paths.js';

/** The command of the package, which `npm run task -- bundle` writes. */
export const BUNDLED_COMMAND = join(ROOT, 'dist/command/main.js');

/** A running program, and the lines of its standard error. */
export class LoggedProcess {
  readonly log: string[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  /** Time from its start to its first line, in ms: longer on a busy machine. */
  startTook = Number.NaN;

  constructor(program: string, args: readonly string[]) {
    this.#child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#ended = once(this.#child, 'exit');
    const began = performance.now();
    createInterface({ input: this.#child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      if (this.log.length === 0) this.startTook = performance.now() - began;
      this.log.push(line);
    });
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** Waits for a matching line of the log, and returns the first one. */
  async logged(pattern: RegExp, milliseconds = PATIENCE): Promise<string> {
    const deadline = Date.now() + milliseconds;
    for (;;) {
      const line = this.log.find((text) => pattern.test(text));
      if (line !== undefined) return line;
      if (this.status !== undefined || Date.now() > deadline) {
        throw new Error(`the agent did not log ${pattern}; its log:\n${this.log.slice(-20).join('\n')}`);
      }
      await wait(10);
    }
  }

  /** Its exit status, or the signal that killed it; undefined while it runs. */
  get status(): number | NodeJS.Signals | undefined {
    return this.#child.signalCode ?? this.#child.exitCode ?? undefined;
  }

  /** Sends the signal, if any, and waits for the end; resolves to the status and the duration, in ms. */
  async end(signal?: NodeJS.Signals): Promise<{ status: number | NodeJS.Signals | undefined; took: number }> {
    const started = performance.now();
    if (signal && this.status === undefined) this.#child.kill(signal);
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), PATIENCE);
    if (this.status === undefined) await this.#ended;
    clearTimeout(timer);
    return { status: this.status, took: performance.now() - started };
  }

  async close(): Promise<void> {
    await this.end('SIGKILL');
  }
}

/** A running agent, in the network namespace of the test. */
export class AgentProcess extends LoggedProcess {
  /** @param command path of the command; by default the one in dist/src */
  constructor(flags: readonly string[], command = COMMAND) {
    super(...launched(process.execPath, command, '--logging-format=json', '--v=2', ...flags));
  }
}
