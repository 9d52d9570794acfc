// The outcomes of the demo's requests: server, phase, and failures. Pure.
import type { Outcome } from '../test/laboratory/labHost.js';

/** A part of the demo, during which the expected servers do not change. */
export interface Phase {
  readonly name: string;
  /** Names of the servers that new connections should reach equally often. */
  readonly servers: readonly string[];
}

/** Requests over one route to a Service. */
export interface Flow {
  readonly name: string;
  /** The server of a connection that stays open; absent if each request has a new connection. */
  readonly server?: string;
}

/**
 * A time without changes. While a change is not in the kernel yet, there is no phase, and old and new servers may respond.
 */
export interface Moment {
  readonly phase: Phase | undefined;
  /** `terminating`, or `terminating, being programmed`. */
  readonly name: string;
}

/** Records requests. */
export class Outcomes {
  readonly #began: number;
  readonly #phases: Phase[] = [];
  readonly #counts = new Map<string, number>();
  readonly #failures: { readonly phase: string; readonly text: string }[] = [];
  #now: Moment = { phase: undefined, name: 'before the first phase' };
  #requests = 0;
  #meanwhile = 0;
  #slowest = 0;

  /** @param began start of the demo, in ms, by the clock of {@link record} */
  constructor(began: number) {
    this.#began = began;
  }

  /** The current moment, which a request stores at its start. */
  get now(): Moment {
    return this.#now;
  }

  /** The phases so far. */
  get phases(): readonly Phase[] {
    return this.#phases;
  }

  /** Number of requests so far. */
  get requests(): number {
    return this.#requests;
  }

  /** Number of requests during a change, which count for no phase. */
  get meanwhile(): number {
    return this.#meanwhile;
  }

  /** Maximum time of a response, in ms. */
  get slowest(): number {
    return this.#slowest;
  }

  /** A sentence for each failure, with its phase and its time. */
  get failures(): readonly string[] {
    return this.#failures.map(({ text }) => text);
  }

  /** Starts a change, which ends with the phase of this name. */
  change(name: string): void {
    this.#now = { phase: undefined, name: `${name}, being programmed` };
  }

  /** A phase begins. */
  begin(phase: Phase): void {
    this.#phases.push(phase);
    this.#now = { phase, name: phase.name };
  }

  /**
   * Records a request.
   *
   * @param started the moment of its start
   * @param at its end, in ms
   * @returns whether it is not a failure
   */
  record(flow: Flow, started: Moment, outcome: Outcome, at: number): boolean {
    this.#requests += 1;
    const phase = started === this.#now ? started.phase : undefined;
    if (!phase) this.#meanwhile += 1;
    const fault = faultOf(flow, phase, outcome);
    if (fault !== undefined) this.fail(`${flow.name}: ${fault}`, at, started);
    if (!('error' in outcome)) {
      this.#slowest = Math.max(this.#slowest, outcome.milliseconds);
      if (phase) this.#count(flow, phase, outcome.by);
    }
    return fault === undefined;
  }

  /** Records a failure without a request. */
  fail(text: string, at: number, moment: Moment = this.#now): void {
    const seconds = ((at - this.#began) / 1000).toFixed(1);
    this.#failures.push({ phase: moment.name, text: `${seconds} s, phase ${moment.name}: ${text}` });
  }

  /** Ends the current phase: each server must have its share of each flow, according to round robin. */
  judgeShares(flows: readonly Flow[], at: number): void {
    const { phase } = this.#now;
    if (!phase) return;
    for (const flow of flows) {
      const expected = expectedOf(flow, phase);
      const share = Math.max(1, Math.floor(this.answers(flow, phase) / expected.length));
      for (const by of expected) {
        const count = this.count(flow.name, phase, by);
        if (count >= share) continue;
        this.fail(`${flow.name}: ${by} answered ${count} requests, and should have had ${share}`, at);
      }
    }
  }

  /** Number of responses in a flow by expected servers, of requests that started and ended in the phase. */
  answers(flow: Flow, phase: Phase): number {
    return expectedOf(flow, phase).reduce((sum, by) => sum + this.count(flow.name, phase, by), 0);
  }

  /** Number of a server's responses to requests that started and ended in the phase. */
  count(flow: string, phase: Phase, by: string): number {
    return this.#counts.get(keyOf(flow, phase, by)) ?? 0;
  }

  #count(flow: Flow, phase: Phase, by: string): void {
    this.#counts.set(keyOf(flow.name, phase, by), this.count(flow.name, phase, by) + 1);
  }

  /** Failures in a phase, and during the change that led to it. */
  failuresIn({ name }: Phase): number {
    return this.#failures.filter(({ phase }) => phase === name || phase.startsWith(`${name},`)).length;
  }
}

function expectedOf({ server }: Flow, phase: Phase): readonly string[] {
  return server === undefined ? phase.servers : [server];
}

/** The failure of a request, if any; `phase` is the one in which it started and ended. */
function faultOf({ server }: Flow, phase: Phase | undefined, outcome: Outcome): string | undefined {
  if ('error' in outcome) return `not answered: ${outcome.error}`;
  const { by, kept } = outcome;
  if (server !== undefined) {
    if (kept && by === server) return undefined;
    return `the open connection to ${server} is lost: ${by} answered over ${kept ? 'it' : 'a new one'}`;
  }
  if (!phase || phase.servers.includes(by)) return undefined;
  return `${by} answered, and should have had no new connection`;
}

function keyOf(flow: string, phase: Phase, by: string): string {
  return [flow, phase.name, by].join('\n');
}
