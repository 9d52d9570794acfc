// Runs an agent with the objects of a tenant, and measures it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { threadTimes } from '../measures/threadTimes.js';
import { ROOT } from '../paths.js';
import type { PassFigures } from './tenantAgent.js';

/** Time between two requests to /livez, in ms. */
const PERIOD = 20;

/** What an agent has used. */
export interface TenantFigures {
  /** CPU time until the end of the first pass, with the start of the process, and of all changes, in ms. */
  readonly first: number;
  readonly changes: number;
  /** Resident memory after the first pass and after each change, and the most of it, in MB. */
  readonly resident: readonly number[];
  readonly peak: number;
  /** Longest turn of the event loop, in ms of CPU time. */
  readonly turn: number;
  /** Slowest answer of /livez, in ms, without the times for which the agent or this process waited for a CPU. */
  readonly livez: number;
  readonly operations: number;
  /** Bytes of the input of iptables-restore. */
  readonly bytes: number;
}

/** The figures on one line. */
export function shownFigures(figures: TenantFigures): string {
  const { first, changes, resident, peak, turn, livez, operations, bytes } = figures;
  const ms = (time: number) => `${time.toFixed(0)} ms`;
  return [
    `first ${ms(first)}, changes ${ms(changes)}`,
    `${resident[0]?.toFixed(0)} MB, then ${resident.at(-1)?.toFixed(0)} MB, at most ${peak.toFixed(0)} MB`,
    `turn ${ms(turn)}, /livez ${ms(livez)}`,
    `${operations} operations, ${(bytes / 1e6).toFixed(1)} MB of rules`,
  ].join('; ');
}

/** The objects, as the arguments of tenantServer.ts, and the number of their changes. */
export interface TenantWork {
  readonly mode: string;
  readonly objects: readonly (string | number)[];
  readonly changes: number;
}

/** Starts an API server and an agent, changes the objects, and ends both. */
export async function measureTenant({ mode, objects, changes }: TenantWork): Promise<TenantFigures> {
  const server = new Child('tenantServer.js', objects.map(String));
  let agent: Child | undefined;
  try {
    const url = await server.line();
    const stored = Number(await server.line());
    agent = new Child('tenantAgent.js', [mode, url]);
    const probes = new Probes(await agent.line(), agent.process.pid);
    const passes = await passesUntil(agent, stored);
    const first = passes.at(-1) as PassFigures;
    const resident = [first.resident];
    for (let change = 0; change < changes; change++) {
      server.process.stdin?.write('\n');
      passes.push(...(await passesUntil(agent, Number(await server.line()))));
      resident.push((passes.at(-1) as PassFigures).resident);
    }
    const last = passes.at(-1) as PassFigures;
    const refused = passes.find(({ failures }) => failures > 0);
    if (refused) throw new Error(`operations failed: ${JSON.stringify(refused)}`);
    return {
      first: first.cpu,
      changes: last.cpu - first.cpu,
      resident,
      peak: last.peak,
      turn: Math.max(...passes.map(({ turn }) => turn)),
      livez: await probes.end(),
      operations: passes.reduce((sum, { operations }) => sum + operations, 0),
      bytes: last.bytes,
    };
  } finally {
    await agent?.end();
    await server.end();
  }
}

/** The passes until the agent has programmed the objects that the server has stored. */
async function passesUntil(agent: Child, stored: number): Promise<PassFigures[]> {
  const passes: PassFigures[] = [];
  for (;;) {
    const pass = JSON.parse(await agent.line()) as PassFigures;
    passes.push(pass);
    if (pass.received >= stored && pass.pending === 0) return passes;
  }
}

/** Requests to /livez, one after another. */
class Probes {
  readonly #url: string;
  readonly #pid: number | undefined;
  readonly #done: Promise<void>;
  #ending = false;
  #slowest = 0;

  /** @param pid of the agent */
  constructor(address: string, pid: number | undefined) {
    this.#pid = pid;
    this.#url = `http://${address}/livez`;
    this.#done = this.#run();
    this.#done.catch(() => {}); // end() rejects.
  }

  /** The slowest answer, in ms. */
  async end(): Promise<number> {
    this.#ending = true;
    await this.#done;
    return this.#slowest;
  }

  async #run(): Promise<void> {
    while (!this.#ending) {
      const [began, waited] = [performance.now(), this.#waited()];
      const status = await this.#ask();
      if (status !== undefined) {
        if (status !== 200) throw new Error(`/livez: ${status}`);
        this.#slowest = Math.max(this.#slowest, performance.now() - began - (this.#waited() - waited));
      }
      await wait(PERIOD);
    }
  }

  /** Times for which this thread, and the one of the agent's event loop, had no CPU: other processes had it. In ms. */
  #waited(): number {
    const [, nanoseconds = '0'] = readFileSync(`/proc/${this.#pid}/schedstat`, 'utf8').split(' ');
    return threadTimes().waited + Number(nanoseconds) / 1e6;
  }

  /** The status; undefined while nothing listens yet. */
  async #ask(): Promise<number | undefined> {
    const request = get(this.#url, { agent: false });
    try {
      const [response] = await once(request, 'response');
      response.resume();
      return response.statusCode;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return undefined;
      throw error;
    }
  }
}

/** A script of this folder, and the lines that it prints. */
class Child {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(script: string, args: readonly string[]) {
    this.process = spawn(process.execPath, [join(ROOT, 'dist/test/support/largeObjects', script), ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#lines = createInterface({ input: this.process.stdout as NodeJS.ReadableStream })[
      Symbol.asyncIterator
    ]();
  }

  async line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`${this.process.spawnargs.join(' ')} ended`);
    return value;
  }

  async end(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await ended;
  }
}
