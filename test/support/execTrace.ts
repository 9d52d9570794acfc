// Which programs a running process starts, as strace sees it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

/** strace, attached to a process and all its threads and children. */
export class ExecTrace {
  readonly #strace: ChildProcess;
  readonly #programs: string[] = [];
  /** By thread: the program of a call that has begun and not yet ended. */
  readonly #unfinished = new Map<string, string>();

  private constructor(strace: ChildProcess) {
    this.#strace = strace;
  }

  /** Resolves once strace is attached. */
  static async attach(pid: number): Promise<ExecTrace> {
    const args = ['-f', '-e', 'trace=execve', '-e', 'signal=none', '-p', String(pid)];
    const strace = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const trace = new ExecTrace(strace);
    const lines = createInterface({ input: strace.stderr as NodeJS.ReadableStream });
    await new Promise<void>((resolve, reject) => {
      const said: string[] = [];
      lines.on('line', (line) => {
        said.push(line);
        if (/^strace: Process \d+ attached/.test(line)) resolve();
        trace.#take(line);
      });
      strace.once('exit', () => reject(new Error(`strace ended: ${said.join('\n')}`)));
    });
    return trace;
  }

  /** The programs started since the last call, in order. */
  async started(): Promise<string[]> {
    // A traced process goes on only after strace has written; what it wrote may still be on its way to us.
    await delay(300);
    return this.#programs.splice(0);
  }

  /** Lets the process go on untraced. */
  async close(): Promise<void> {
    if (this.#strace.exitCode !== null || this.#strace.signalCode !== null) return;
    const ended = once(this.#strace, 'exit');
    this.#strace.kill('SIGINT');
    await ended;
  }

  /** `[pid 7] execve("/usr/sbin/iptables-restore", […], …) = 0`, perhaps in two parts. Attempts along PATH fail first. */
  #take(line: string): void {
    const thread = /^\[pid +(\d+)\]/.exec(line)?.[1] ?? '';
    const begun = /execve\("([^"]+)"/.exec(line)?.[1];
    if (begun !== undefined) this.#unfinished.set(thread, begun);
    if (!/execve.* = 0$/.test(line)) return;
    this.#programs.push(basename(this.#unfinished.get(thread) ?? line));
    this.#unfinished.delete(thread);
  }
}
