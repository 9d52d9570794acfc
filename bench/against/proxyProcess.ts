// A proxy as a process: its passes by the lines of its log, its memory and its CPU time.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { cpuTimeOf, memoryOf } from './procfs.js';
import type { ProxyCommand } from './types.js';

/** A proxy is idle if no pass ended for this time, in ms: kube-proxy's minSyncPeriod is 1 s. */
export const QUIET = 1500;
/** Longest wait for that, in ms. */
export const QUIET_LIMIT = 30_000;

/** Number of last lines of the log that an error shows. */
const SHOWN_LINES = 12;

/** Time of a proxy that only prints its version, in ms. */
const VERSION_LIMIT = 10_000;

/** Time that a proxy has after SIGTERM, in ms. */
const GRACE = 10_000;

/** The values of the placeholders of a command. */
export interface Placeholders {
  /** Path of a kubeconfig. */
  readonly kubeconfig: string;
  /** Name of the node. */
  readonly node: string;
}

/** A running proxy. */
export class ProxyProcess {
  /** When it was started, as of `performance.now()`. */
  readonly began = performance.now();
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #pattern: RegExp;
  /** The ends of its passes, as of `performance.now()`. */
  readonly #passes: number[] = [];
  #lastLines: string[] = [];
  #changed: () => void = () => {};
  #failure: string | undefined;

  /** Starts it in the network namespace of this thread. */
  constructor({ command, passPattern }: ProxyCommand, places: Placeholders) {
    this.#pattern = passPattern;
    // The process of the shell becomes the proxy, whose memory is measured.
    this.#child = spawn('sh', ['-c', `exec ${filledIn(command, places)}`], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', ({ message }) => this.#end(`cannot start sh: ${message}`, resolve));
      this.#child.once('close', (code, signal) =>
        this.#end(`it ended with ${signal ?? `status ${code}`}`, resolve),
      );
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => this.#read(line));
    }
  }

  /** Number of passes so far. */
  get passes(): number {
    return this.#passes.length;
  }

  /**
   * The end of the pass after this number of passes, as of `performance.now()`; undefined after the time limit. Rejects if the
   * proxy has ended.
   *
   * @param limit in ms
   */
  async passAfter(count: number, limit: number): Promise<number | undefined> {
    const late = performance.now() + limit;
    for (;;) {
      const pass = this.#passes[count];
      if (pass !== undefined) return pass;
      if (this.#failure !== undefined) throw new Error(`${this.#failure}${this.#story}`);
      const left = late - performance.now();
      if (left <= 0) return undefined;
      await this.#change(left);
    }
  }

  /** The end of its first pass, as of `performance.now()`. Rejects after the time limit, in ms, and if the proxy has ended. */
  async firstPass(limit: number): Promise<number> {
    const first = await this.passAfter(0, limit);
    if (first !== undefined) return first;
    throw new Error(`no line matched ${this.#pattern} within ${limit} ms${this.#story}`);
  }

  /** Waits until no pass ended for a time; gives up after the limit. Both in ms. */
  async quiet(time: number, limit: number): Promise<void> {
    const late = performance.now() + limit;
    while (performance.now() < late) {
      if ((await this.passAfter(this.passes, time)) === undefined) return;
    }
  }

  /** Resident memory now and at its highest, in bytes. */
  get memory(): { readonly resident: number; readonly peak: number } {
    return memoryOf(this.#child.pid as number);
  }

  /** CPU time with ended children, in ms. */
  get cpuTime(): number {
    return cpuTimeOf(this.#child.pid as number);
  }

  /** The last lines of its log, for an error. */
  get #story(): string {
    return this.#lastLines.length === 0
      ? '; it logged nothing'
      : `; its log ends:\n${this.#lastLines.join('\n')}`;
  }

  /** Ends it by SIGTERM, and after some time by SIGKILL. */
  async end(): Promise<void> {
    if (this.#failure !== undefined) return;
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), GRACE);
    await this.#ended;
    clearTimeout(timer);
  }

  #read(line: string): void {
    this.#lastLines = [...this.#lastLines, line].slice(-SHOWN_LINES);
    if (!this.#pattern.test(line)) return;
    this.#passes.push(performance.now());
    this.#changed();
  }

  #end(failure: string, resolve: (value: unknown) => void): void {
    this.#failure ??= failure;
    this.#changed();
    resolve(undefined);
  }

  /** Resolves at the next pass or at the end, after this time at the latest. */
  async #change(limit: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limit);
      this.#changed = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** The first line that a command prints with `--version`; undefined if it does not end soon and well. */
export function versionOf(command: string): string | undefined {
  const words = `exec ${filledIn(command, { kubeconfig: '/dev/null', node: 'node' })} --version`;
  const options = { encoding: 'utf8', timeout: VERSION_LIMIT, killSignal: 'SIGKILL' } as const;
  const { status, stdout } = spawnSync('sh', ['-c', words], options);
  return status === 0 ? stdout.split('\n')[0]?.trim() || undefined : undefined;
}

/** A command with its placeholders replaced, quoted for the shell. */
function filledIn(command: string, places: Placeholders): string {
  return command.replaceAll(/\{(kubeconfig|node)\}/g, (_, name: keyof Placeholders) => quoted(places[name]));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
