// Counts the messages that a running process sends and receives, and the programs that it starts, with strace.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** The calls for netlink messages, and to start programs. Node uses other calls for its streams. */
const CALLS = 'sendto,sendmsg,recvfrom,recvmsg,execve';

/** strace, attached to a process and all its threads. */
export class CallTrace {
  readonly #strace: ChildProcess;
  readonly #lines: string[] = [];

  private constructor(strace: ChildProcess) {
    this.#strace = strace;
  }

  /** Resolves when strace is attached. */
  static async attach(pid: number): Promise<CallTrace> {
    const args = ['-f', '-e', `trace=${CALLS}`, '-e', 'signal=none', '-p', String(pid)];
    const strace = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const trace = new CallTrace(strace);
    const lines = createInterface({ input: strace.stderr as NodeJS.ReadableStream });
    await new Promise<void>((resolve, reject) => {
      lines.on('line', (line) => {
        trace.#lines.push(line);
        if (/^strace: Process \d+ attached/.test(line)) resolve();
      });
      strace.once('exit', () => reject(new Error(`strace ended: ${trace.#lines.join('\n')}`)));
    });
    return trace;
  }

  /** Detaches, and returns the counts by name. A call that strace shows in two parts counts once. */
  async end(): Promise<Record<string, number>> {
    const ended = once(this.#strace, 'close');
    this.#strace.kill('SIGINT');
    await ended;
    const counts: Record<string, number> = {};
    for (const line of this.#lines) {
      const name = /^(?:\[pid +\d+\] )?([a-z_0-9]+)\(/.exec(line)?.[1];
      if (name !== undefined) counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }
}
