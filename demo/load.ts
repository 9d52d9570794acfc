// A steady load: one request after another over each way into a Service, until it is stopped.
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Flow, Outcomes } from './outcomes.js';
import type { Outcome } from './station.js';

/** A way to send requests. */
export interface Requests extends Flow {
  /** Sends one; resolves to what came of it. */
  send(): Promise<Outcome>;
}

/** Rest after each request, in ms. */
const REST = 100;
/** The same, as a multiple of what the request took: a machine that is slow is not to be kept busy by this. */
const SLOW_REST = 1.5;
/** Longest time that so many requests may take, in ms. */
const PATIENCE = 30_000;

/** Sends requests over every flow at once, and records them. */
export class Load {
  readonly #outcomes: Outcomes;
  /** Without an open connection that was lost: that counts once. */
  readonly #flows: Set<Requests>;
  readonly #running: readonly Promise<void>[];
  #stopping = false;

  /** Begins. */
  constructor(outcomes: Outcomes, flows: readonly Requests[]) {
    this.#outcomes = outcomes;
    this.#flows = new Set(flows);
    this.#running = flows.map((flow) => this.#run(flow));
  }

  /** Has a phase last for some time, in ms, and until it has had so many answers of each flow; then judges it. */
  async lastFor({ requests, time }: { readonly requests: number; readonly time: number }): Promise<void> {
    const { phase } = this.#outcomes.now;
    if (!phase) throw new Error('no phase has begun');
    const began = performance.now();
    const passed = () => performance.now() - began;
    const isDone = (flow: Flow) => this.#outcomes.answers(flow, phase) >= requests;
    while (passed() < time || ![...this.#flows].every(isDone)) {
      if (passed() > PATIENCE) {
        this.#outcomes.fail(`fewer than ${requests} answers in ${PATIENCE} ms`, performance.now());
        break;
      }
      await delay(REST / 4);
    }
    this.#outcomes.judgeShares([...this.#flows], performance.now());
  }

  /** Lets the requests under way end. */
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
