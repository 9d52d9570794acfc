// A steady load: sequential requests over each flow, until it is stopped.
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Outcome } from '../test/laboratory/labHost.js';
import type { Flow, Outcomes } from './outcomes.js';

/** A sender of requests. */
export interface Requests extends Flow {
  /** Sends one request; resolves to its outcome. */
  send(): Promise<Outcome>;
}

/** Pause after each request, in ms. */
const REST = 100;
/** The pause as a multiple of the request's duration, so that a slow machine is not overloaded. */
const SLOW_REST = 1.5;
/** Time limit for the requests of a phase, in ms. */
const PATIENCE = 30_000;

/** Sends requests over all flows in parallel, and records their outcomes. */
export class Load {
  readonly #outcomes: Outcomes;
  /** The flows without a lost open connection, which counts only once. */
  readonly #flows: Set<Requests>;
  readonly #running: readonly Promise<void>[];
  #stopping = false;

  /** Starts the load. */
  constructor(outcomes: Outcomes, flows: readonly Requests[]) {
    this.#outcomes = outcomes;
    this.#flows = new Set(flows);
    this.#running = flows.map((flow) => this.#run(flow));
  }

  /** Waits for a time, in ms, and for a number of responses of each flow; then ends and checks the phase. */
  async lastFor({ requests, time }: { readonly requests: number; readonly time: number }): Promise<void> {
    const { phase } = this.#outcomes.now;
    if (!phase) throw new Error('no phase has begun');
    const began = performance.now();
    const passed = () => performance.now() - began;
    const isDone = (flow: Flow) => this.#outcomes.answers(flow, phase) >= requests;
    while (passed() < time || ![...this.#flows].every(isDone)) {
      if (passed() > PATIENCE) {
        this.#outcomes.fail(`fewer than ${requests} responses in ${PATIENCE} ms`, performance.now());
        break;
      }
      await delay(REST / 4);
    }
    this.#outcomes.judgeShares([...this.#flows], performance.now());
  }

  /** Waits for the current requests. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#running);
  }

  async #run(flow: Requests): Promise<void> {
    while (!this.#stopping && this.#flows.has(flow)) {
      const started = this.#outcomes.now;
      const outcome = await flow
        .send()
        .catch((error: Error): Outcome => ({ error: error.message, milliseconds: 0 }));
      const isGood = this.#outcomes.record(flow, started, outcome, performance.now());
      if (!isGood && flow.server !== undefined) this.#flows.delete(flow);
      await delay(Math.max(REST, SLOW_REST * outcome.milliseconds));
    }
  }
}
