// Runs a history on a simulated proxy, with simulated traffic, in simulated time.
import { type ClusterState, EMPTY_CLUSTER, stateAfter } from '../core/cluster.js';
import {
  AffinityPauses,
  affinityGroupOf,
  isKept,
  quietFor,
  type Target,
  targetKey,
  targetsOf,
} from '../core/frontends.js';
import { FAULTS, type FaultName, type History, type Step } from '../core/history.js';
import type { Change, FaultPeriod, Observation, Recording, Use } from '../core/observations.js';
import { randomOf } from '../core/random.js';
import type { Bounds } from '../core/rules.js';
import type { Flaw } from './flaws.js';
import { type Answer, SimulatedProxy } from './proxy.js';

const DIALS = { localhost: true, sctp: true };
/** Bounds for simulated proxies: shorter than those of real ones, so that histories are. */
export const SIMULATED_BOUNDS: Bounds = {
  programming: 400,
  recovery: 800,
  chance: 1e-9,
  refusal: 200,
  ...DIALS,
};
const TIMES = { programming: 300, repair: 500 };

/** The time of a step of the simulation, in ms. */
const TICK = 50;
/** A target is dialled in one of this number of ticks. */
const SHARE = 3;
/** The time for which traffic goes on after the last event, in ms, and that of a request without an answer. */
const QUIET = 2_000;
const PATIENCE = 300;

/** Runs a history; the recording is the same each time. */
export function simulate(history: History, flaw?: Flaw): Recording {
  return new Simulation(history, flaw).run();
}

class Simulation {
  readonly #history: History;
  readonly #proxy: SimulatedProxy;
  readonly #changes: Change[] = [];
  readonly #faults: FaultPeriod[] = [];
  readonly #observations: Observation[] = [];
  /** Open connections and sockets by frontend. */
  readonly #open = new Map<string, { readonly connection: number; readonly target: Target }>();
  /** All targets of earlier states, which clients dial further. */
  readonly #former = new Map<string, Target>();
  /** The states so far, and the time from which each was stored. */
  readonly #past: { readonly at: number; readonly state: ClusterState }[] = [];
  /** The fault that lasts, and its place in the list of faults. */
  #lasting: { readonly fault: FaultName; readonly ends: number; readonly index: number } | undefined;
  readonly #pauses = new AffinityPauses();
  #state = EMPTY_CLUSTER;
  #now = 0;
  #connections = 0;

  constructor(history: History, flaw: Flaw | undefined) {
    this.#history = history;
    this.#proxy = new SimulatedProxy(randomOf(history.seed), TIMES, flaw);
  }

  run(): Recording {
    const steps = [...this.#history.steps];
    let next = steps[0]?.after ?? 0;
    let end = Number.POSITIVE_INFINITY;
    for (let tick = 0; this.#now < end; this.#now += TICK, tick++) {
      while (steps.length > 0 && this.#now >= next) {
        this.#happen(steps.shift() as Step);
        next += steps[0]?.after ?? 0;
      }
      if (this.#lasting && this.#now >= this.#lasting.ends) this.#endFault(this.#lasting);
      this.#proxy.advance(this.#now);
      this.#send(tick);
      if (steps.length === 0 && !this.#lasting && end === Number.POSITIVE_INFINITY)
        end = this.#now + quietFor(this.#state, QUIET);
    }
    const observations = this.#observations.toSorted((a, b) => a.ended - b.ended);
    const [changes, faults] = [this.#changes, this.#faults];
    return { history: this.#history, changes, faults, observations, ended: this.#now };
  }

  #happen({ event }: Step): void {
    if (event.do !== 'fault') {
      for (const target of targetsOf(this.#state, DIALS)) this.#former.set(targetKey(target), target);
      this.#state = stateAfter(this.#state, event);
      this.#changes.push({ at: this.#now, event });
      this.#past.push({ at: this.#now, state: this.#state });
      // An older API server stores the change at the end of the fault.
      if (!this.#isOlder) this.#proxy.store(this.#state, this.#now);
    } else if (FAULTS[event.fault] === 'damages') {
      this.#faults.push({ fault: event.fault, began: this.#now, ended: this.#now });
      this.#proxy.damage(this.#now);
    } else if (FAULTS[event.fault] === 'none') {
      this.#faults.push({ fault: event.fault, began: this.#now, ended: this.#now + event.lasts });
    } else if (!this.#lasting) {
      this.#beginFault(event.fault, event.lasts);
    }
  }

  get #isOlder(): boolean {
    return this.#lasting !== undefined && FAULTS[this.#lasting.fault] === 'ages';
  }

  #beginFault(fault: FaultName, lasts: number): void {
    const ends = this.#now + lasts;
    this.#lasting = { fault, ends, index: this.#faults.length };
    const period = { fault, began: this.#now, ended: ends };
    if (!this.#isOlder) {
      this.#faults.push(period);
      this.#proxy.stop();
      return;
    }
    const restored = this.#now - lasts;
    const older = this.#past.findLast(({ at }) => at <= restored)?.state ?? EMPTY_CLUSTER;
    this.#faults.push({ ...period, restored });
    this.#proxy.store(older, this.#now);
  }

  /** The proxy is back. The recorded end is that of the tick, from which it needs time. */
  #endFault({ fault, index }: { readonly fault: FaultName; readonly index: number }): void {
    if (this.#isOlder) this.#proxy.storeCurrent(this.#state, this.#now);
    else this.#proxy.start(fault, this.#now);
    this.#lasting = undefined;
    const period = this.#faults[index];
    if (period) this.#faults[index] = { ...period, ended: this.#now };
  }

  #send(tick: number): void {
    const targets = targetsOf(this.#state, DIALS);
    targets.forEach((target, i) => {
      if ((i + tick) % SHARE !== 0) return;
      const group = affinityGroupOf(this.#state, target);
      if (!group || this.#pauses.opens(group, this.#now))
        this.#note('once', ++this.#connections, target, this.#proxy.connect(target));
      const key = targetKey(target);
      if (this.#open.has(key) || !isKept(target)) return;
      const connection = ++this.#connections;
      const answer = this.#proxy.connect(target, connection);
      this.#note(useOf(target), connection, target, answer);
      if (answer.result === 'answered' || target.protocol === 'UDP')
        this.#open.set(key, { connection, target });
    });
    const current = new Set(targets.map(targetKey));
    const left = [...this.#former].filter(([key]) => !current.has(key));
    left.forEach(([, target], i) => {
      if ((i + tick) % (2 * SHARE) !== 0) return;
      this.#note('once', ++this.#connections, target, this.#proxy.connect(target));
    });
    for (const [key, { connection, target }] of this.#open) {
      const isStream = target.protocol === 'UDP';
      const answer = isStream ? this.#proxy.connect(target, connection) : this.#proxy.ask(target, connection);
      this.#note(useOf(target), connection, target, answer);
      if (answer.result === 'reset') this.#open.delete(key);
    }
  }

  #note(use: Use, connection: number, target: Target, answer: Answer): void {
    const took = answer.result === 'timeout' ? PATIENCE : 1;
    this.#observations.push({
      use,
      connection,
      target,
      began: this.#now,
      ended: this.#now + took,
      ...answer,
    });
  }
}

function useOf({ protocol }: Target): Use {
  return protocol === 'UDP' ? 'stream' : 'long';
}
