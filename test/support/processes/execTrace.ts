// Lists the programs that a running process starts, with strace.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

/** strace, attached to a process and all its threads and children. */
export class ExecTrace {
  readonly #strace: ChildProcess;
  readonly #programs: string[] = [];
  /** By thread: the program of a call that has not ended. */
  readonly #unfinished = new Map<string, string>();

  private constructor(strace: ChildProcess) {
    this.#strace = strace;
  }

  /** Resolves when strace is attached. */
  static async attach(pid: number): Promise<ExecTrace> {
    const args = ['-f', '-e', 'trace=execve', '-e', 'signal=none', '-p', String(pid)];
    const strace = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const trace = new ExecTrace(strace);
    const lines = createInterface({ input: strace.stderr as NodeJS.ReadableStream });
    await new Promise<void>((resolve, reject) => {
      const output: string[] = [];
      lines.on('line', (line) => {
        output.push(line);
        if (/^strace: Process \d+ attached/.test(line)) resolve();
        trace.#take(line);
      });
      strace.once('exit', () => reject(new Error(`strace ended: ${output.join('\n')}`)));
    });
    return trace;
  }

  /** The programs started since the last call, in order. */
  async started(): Promise<string[]> {
    // A traced process continues only after strace has written; its output may not have arrived yet.
    await delay(300);
    return this.#programs.splice(0);
  }

  /** Detaches strace. */
  async close(): Promise<void> {
    if (this.#strace.exitCode !== null || this.#strace.signalCode !== null) return;
    const ended = once(this.#strace, 'exit');
    this.#strace.kill('SIGINT');
    await ended;
  }

  /** `[pid 7] execve("/usr/sbin/iptables-restore", […], …) = 0`, possibly in two parts. Attempts along PATH fail. */
  #take(line: string): void {
    const thread = /^\[pid +(\d+)\]/.exec(line)?.[1] ?? '';
    const begun = /execve\("([^"]+)"/.exec(line)?.[1];
    if (begun !== undefined) this.#unfinished.set(thread, begun);
    if (!/execve.* = 0$/.test(line)) return;
    this.#programs.push(basename(this.#unfinished.get(thread) ?? line));
    this.#unfinished.delete(thread);
  }
}
