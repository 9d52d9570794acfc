// Measures how long the proxy waits for a processor.
import { readdirSync, readFileSync } from 'node:fs';
import type { Wait } from '../core/observations.js';

/** Period of the measurement, in ms. */
const PERIOD = 200;
/** Shorter waits are part of every run, in ms in a period. */
const LEAST = 10;

/** Measures until it is ended. */
export class WaitMeter {
  readonly #proxy: () => number | undefined;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  readonly #waits: Wait[] = [];
  /** The waits of each process so far, in ms. */
  #before: ReadonlyMap<number, number>;
  #looked: number;

  /**
   * @param proxy its process, if it runs
   * @param now the time of the recording, in ms
   */
  constructor(proxy: () => number | undefined, now: () => number) {
    this.#proxy = proxy;
    this.#now = now;
    this.#before = this.#measure();
    this.#looked = now();
    this.#timer = setInterval(() => this.#look(), PERIOD);
  }

  /** The waits so far. */
  get waits(): readonly Wait[] {
    return this.#waits;
  }

  end(): readonly Wait[] {
    clearInterval(this.#timer);
    this.#look();
    return this.#waits;
  }

  #look(): void {
    const now = this.#now();
    const current = this.#measure();
    let waited = 0;
    for (const [pid, total] of current) waited += total - (this.#before.get(pid) ?? 0);
    this.#before = current;
    const [from, until] = [this.#looked, now];
    this.#looked = now;
    if (waited >= LEAST) this.#waits.push({ from, until, waited: Math.min(waited, until - from) });
  }

  /** This process has the API server. */
  #measure(): Map<number, number> {
    const proxy = this.#proxy();
    const processes = proxy === undefined ? [] : [proxy, ...childrenOf(proxy)];
    return new Map([process.pid, ...processes].map((pid) => [pid, waitOf(pid)]));
  }
}

/** The processes that a process has started and that have not ended. */
export function childrenOf(parent: number): number[] {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return processes.map(Number).filter((pid) => parentOf(pid) === parent);
}

/** The second number after the name of the program, which may have spaces and parentheses; undefined if the process has ended. */
function parentOf(pid: number): number | undefined {
  const words = textOf(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ');
  return words && Number(words[1]);
}

/** The time for which the first thread of a process was ready and had no processor, in ms: the second number of schedstat, in ns. */
function waitOf(pid: number): number {
  return Number(textOf(`/proc/${pid}/schedstat`)?.split(' ')[1] ?? 0) / 1e6;
}

/** A file of a process; undefined if it has ended, or if the kernel has no such file. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
