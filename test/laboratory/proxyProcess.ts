// The real command, run in a network namespace, with its log read line by line.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { undoAtExit } from './atExit.js';
import { PATIENCE } from './patience.js';
import { CLUSTER_CIDR, NODE_A } from './places.js';

/** A line of the proxy's log. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** The log line of a pass. */
export interface SyncedLine extends LogLine {
  readonly full: boolean;
  readonly services: number;
  readonly operations: number;
  readonly failures: number;
  readonly planMs: number;
  readonly kernelMs: number;
}

/** The result of a run that ended by itself. */
export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * The path of the command: dist/src/command/cli/main.js, seen from dist/test/laboratory/. `npm test` names that of the package instead, which
 * starts in three quarters of the time.
 */
export const COMMAND =
  process.env['KNP_COMMAND'] ?? fileURLToPath(new URL('../../src/command/cli/main.js', import.meta.url));

/**
 * A command line, after the words of KNP_LAUNCHER, which are separated by spaces: a program that executes the rest, and limits or records its
 * system calls.
 */
export function launched(...words: readonly string[]): [program: string, args: string[]] {
  const launcher = process.env['KNP_LAUNCHER']?.split(' ') ?? [];
  const [program = '', ...args] = [...launcher, ...words];
  return [program, args];
}

/** A running proxy. */
export class ProxyProcess {
  readonly #child: ChildProcess;
  readonly #lines: LogLine[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #forget: () => void;

  /**
   * Starts it as node-a's proxy.
   *
   * @param launcher words before its command, which execute the command in the same process
   */
  constructor(
    namespace: string,
    manifests: string,
    flags: readonly string[] = [],
    launcher: readonly string[] = [],
  ) {
    // With a line for each pass.
    this.#child = spawn('ip', [...commandIn(namespace, manifests, launcher), '--v=2', ...flags], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#forget = undoAtExit(() => this.#child.kill('SIGKILL'));
    createInterface({ input: this.#child.stderr as NodeJS.ReadableStream }).on('line', (text) => {
      this.#lines.push(readLine(text));
      this.#tell();
    });
    this.#child.once('exit', () => this.#tell());
  }

  /** The proxy's own: `ip netns exec` executes the command in the same process. */
  get pid(): number {
    return this.#child.pid as number;
  }

  /** The log so far. */
  get log(): readonly LogLine[] {
    return this.#lines;
  }

  /** The first pass. */
  programmed(): Promise<SyncedLine> {
    return this.synced(0);
  }

  /** The first pass after this number of log lines. */
  async synced(after: number): Promise<SyncedLine> {
    const wanted = (line: LogLine) => line.msg === 'synced' && this.#lines.indexOf(line) >= after;
    return (await this.logged(wanted, 'a pass')) as SyncedLine;
  }

  /**
   * Waits for a line of the log, including earlier ones.
   *
   * @param what description of the line for the error message
   */
  logged(wanted: (line: LogLine) => boolean, what: string, milliseconds = PATIENCE): Promise<LogLine> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const line = this.#lines.find(wanted);
        if (line) settle(() => resolve(line));
        else if (this.#ended)
          settle(() => reject(new Error(`the proxy ended before ${what}${this.#story()}`)));
      };
      const late = () =>
        reject(new Error(`the proxy did not log ${what} within ${milliseconds} ms${this.#story()}`));
      const timer = setTimeout(() => settle(late), milliseconds);
      const settle = (finish: () => void) => {
        clearTimeout(timer);
        this.#listeners.delete(look);
        finish();
      };
      this.#listeners.add(look);
      look();
    });
  }

  /** Ends the proxy; resolves to its exit status, or to the signal that killed it. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | NodeJS.Signals> {
    if (!this.#ended) {
      const ended = once(this.#child, 'exit');
      this.#child.kill(signal);
      const timer = setTimeout(() => this.#child.kill('SIGKILL'), PATIENCE);
      await ended;
      clearTimeout(timer);
    }
    this.#forget();
    return this.#child.signalCode ?? (this.#child.exitCode as number);
  }

  /** Ends the proxy, if it still runs. */
  async close(): Promise<void> {
    await this.end();
  }

  get #ended(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #story(): string {
    const lines = this.#lines.slice(-20).map((line) => `  ${JSON.stringify(line)}`);
    return ['; its log ends:', ...(lines.length > 0 ? lines : ['  (nothing)'])].join('\n');
  }
}

/** Runs the command with `--once` to its end. */
export async function runOnce(
  namespace: string,
  manifests: string,
  flags: readonly string[] = [],
): Promise<Ended> {
  const child = spawn('ip', [...commandIn(namespace, manifests), ...flags, '--once'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const forget = undoAtExit(() => child.kill('SIGKILL'));
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
  const texts = [child.stdout, child.stderr].map(async (stream) =>
    (await stream.setEncoding('utf8').toArray()).join(''),
  );
  const [status] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  forget();
  const [stdout = '', stderr = ''] = await Promise.all(texts);
  return { status, stdout, stderr };
}

function commandIn(namespace: string, manifests: string, launcher: readonly string[] = []): string[] {
  const flags = [
    '--manifests',
    manifests,
    '--hostname-override',
    NODE_A.name,
    '--cluster-cidr',
    CLUSTER_CIDR,
    '--proxy-mode',
    'ipvs',
    '--logging-format',
    'json',
  ];
  const [program, args] = launched(process.execPath, COMMAND, 'run', ...flags);
  return ['netns', 'exec', namespace, ...launcher, program, ...args];
}

/** A line that is not JSON, for example of a crash, is kept as text. */
function readLine(text: string): LogLine {
  try {
    return JSON.parse(text) as LogLine;
  } catch {
    return { level: 'none', msg: text };
  }
}
