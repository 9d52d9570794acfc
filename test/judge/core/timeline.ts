// The states that could be in force in the kernel at a time, and what they promise.
import { type ClusterState, EMPTY_CLUSTER, stateAfter } from './cluster.js';
import { type Target, targetKey } from './frontends.js';
import { FAULTS, type FaultName } from './history.js';
import type { FaultPeriod, Recording } from './observations.js';
import { type ConnectionPromise, mixedPromises, promiseOf } from './promise.js';
import type { Bounds } from './rules.js';
import { RunTime } from './runTime.js';

/** A state, and the time from which it was stored. */
export interface TimedState {
  readonly from: number;
  readonly state: ClusterState;
}

/** What may be in force for a target during a time. */
export interface Window {
  /** The promise of the last state. */
  readonly last: ConnectionPromise;
  /** The last state. */
  readonly state: ClusterState;
  /** All promises, of which some may be equal. */
  readonly promises: readonly ConnectionPromise[];
  /** Whether damage may not have been repaired. */
  readonly damaged: boolean;
}

/** Faults, each of which came before the recovery from the one before: a proxy that is down does not repair damage. */
interface Disturbance {
  readonly began: number;
  /** The first damage; infinite without any. */
  readonly damaged: number;
  /** When all promises hold again. */
  readonly recovered: number;
}

/** A time in which the API server had the objects of an earlier one. */
interface Restoration {
  readonly began: number;
  readonly ended: number;
  /** The index of the state that it had. */
  readonly index: number;
}

/** Faults during which the proxy does not run, and damage to the sets and maps that record in ipvs mode which virtual services are its own. */
const ENDS: ReadonlySet<FaultName> = new Set(['proxyKilled', 'proxyEnded']);
const UNRECORDS: ReadonlySet<FaultName> = new Set(['setsFlushed', 'setsDestroyed']);

function disturbancesOf(
  faults: readonly FaultPeriod[],
  recoveredFrom: (ended: number) => number,
): Disturbance[] {
  const found: Disturbance[] = [];
  for (const { fault, began, ended } of faults) {
    if (FAULTS[fault] === 'none') continue;
    const damaged = FAULTS[fault] === 'damages' ? began : Number.POSITIVE_INFINITY;
    const last = found.at(-1);
    if (!last || last.recovered < began) {
      found.push({ began, damaged, recovered: recoveredFrom(ended) });
    } else {
      const recovered = Math.max(last.recovered, recoveredFrom(ended));
      found[found.length - 1] = { ...last, damaged: Math.min(last.damaged, damaged), recovered };
    }
  }
  return found;
}

/** The states of a recording, and its faults. */
export class Timeline {
  readonly states: readonly TimedState[];
  readonly #disturbances: readonly Disturbance[];
  readonly #bounds: Bounds;
  readonly #runTime: RunTime;
  readonly #restorations: readonly Restoration[];
  /** Times whose node ports a proxy may keep in ipvs mode. */
  readonly #unrecorded: readonly Pick<FaultPeriod, 'began' | 'ended'>[];
  /** The times of faults that make a proxy forget its clients. */
  readonly #replacements: readonly FaultPeriod[];
  /** Promises by target, and by the states. */
  readonly #promises = new Map<string, readonly ConnectionPromise[]>();

  constructor(
    { changes, faults, waits = [] }: Pick<Recording, 'changes' | 'faults' | 'waits'>,
    bounds: Bounds,
  ) {
    const states: TimedState[] = [{ from: Number.NEGATIVE_INFINITY, state: EMPTY_CLUSTER }];
    let state = EMPTY_CLUSTER;
    for (const { at, event } of changes) {
      const next = stateAfter(state, event);
      if (next !== state) states.push({ from: at, state: next });
      state = next;
    }
    this.states = states;
    this.#runTime = new RunTime(waits);
    this.#disturbances = disturbancesOf(faults, (ended) => this.#runTime.after(ended, bounds.recovery));
    this.#bounds = bounds;
    this.#restorations = faults.flatMap(({ began, ended, restored }) =>
      restored === undefined ? [] : [{ began, ended, index: this.#indexAt(restored) }],
    );
    this.#unrecorded = bounds.ipvs ? this.#unrecordedIn(faults) : [];
    this.#replacements = faults.filter(({ fault }) => FAULTS[fault] === 'replaces');
  }

  /** What may be in force in some part of a time. */
  window(began: number, ended: number, target: Target): Window {
    const earliest = this.#earliest(began);
    const first = this.#indexAt(earliest);
    const last = Math.max(first, this.#indexAt(ended));
    const { state } = this.states[last] as TimedState;
    const promise = this.promiseOf(state, target);
    const restored = this.#restorations
      .filter((one) => one.began <= ended && one.ended >= earliest)
      .map(({ index }) => index);
    const kept = target.kind === 'nodePort' && promise.service === undefined ? this.#keptAt(ended) : [];
    const others = [...restored, ...kept].filter((index) => index < first || index > last);
    const damaged = this.#isDamaged(began, ended);
    return { state, last: promise, promises: this.#promisesOf(first, last, others, target), damaged };
  }

  /** The times from the end of the proxy to its recovery, in which the record of its virtual services was destroyed. */
  #unrecordedIn(faults: readonly FaultPeriod[]): Pick<FaultPeriod, 'began' | 'ended'>[] {
    return faults
      .filter(({ fault, died }) => ENDS.has(fault) || died)
      .map(({ began, ended }) => ({ began, ended: this.#runTime.after(ended, this.#bounds.recovery) }))
      .filter((down) =>
        faults.some((one) => UNRECORDS.has(one.fault) && one.began >= down.began && one.began <= down.ended),
      );
  }

  /** The states whose node ports may be kept at a time. */
  #keptAt(time: number): number[] {
    return this.#unrecorded
      .filter(({ began }) => began <= time)
      .flatMap(({ began, ended }) => {
        const first = this.#indexAt(this.#runTime.before(began, this.#bounds.programming));
        const last = this.#indexAt(Math.min(ended, time));
        return Array.from({ length: last - first + 1 }, (_, n) => first + n);
      });
  }

  /** The promise for a target in a state. */
  promiseOf(state: ClusterState, target: Target): ConnectionPromise {
    return promiseOf(state, target, this.#bounds);
  }

  /** The state that was stored at a time. */
  stateAt(time: number): ClusterState {
    return (this.states[this.#indexAt(time)] as TimedState).state;
  }

  /** The states that were stored in some part of a time. */
  statesIn(began: number, ended: number): ClusterState[] {
    return this.states.slice(this.#indexAt(began), this.#indexAt(ended) + 1).map(({ state }) => state);
  }

  /** Whether a fault made the proxy forget its clients in some part of a time. */
  forgets(began: number, ended: number): boolean {
    return this.#replacements.some((one) => one.began <= ended && one.ended + this.#bounds.recovery >= began);
  }

  #promisesOf(
    first: number,
    last: number,
    restored: readonly number[],
    target: Target,
  ): readonly ConnectionPromise[] {
    const key = `${first} ${last} ${restored.join()} ${targetKey(target)}`;
    let promises = this.#promises.get(key);
    if (!promises) {
      const timed = [
        ...this.states.slice(first, last + 1),
        ...restored.map((i) => this.states[i] as TimedState),
      ];
      const states = timed.map(({ state }) => state);
      promises = mixedPromises(states, target, this.#bounds);
      this.#promises.set(key, promises);
    }
    return promises;
  }

  /** Whether a fault, and its recovery, concerns a time. */
  isDisturbed(began: number, ended: number): boolean {
    return this.#disturbances.some((one) => one.began <= ended && one.recovered >= began);
  }

  /**
   * The earliest time whose state may be in force: the bound of programming before, and longer ago if a fault has delayed
   * the changes since then. Damage delays changes too: repairs take time.
   */
  #earliest(time: number): number {
    let earliest = this.#runTime.before(time, this.#bounds.programming);
    for (const { began, recovered } of this.#disturbances.toReversed()) {
      if (began <= time && recovered >= earliest)
        earliest = Math.min(earliest, this.#runTime.before(began, this.#bounds.programming));
    }
    return earliest;
  }

  #isDamaged(began: number, ended: number): boolean {
    return this.#disturbances.some((one) => one.damaged <= ended && one.recovered >= began);
  }

  /** The index of the state that was stored at a time. */
  #indexAt(time: number): number {
    let [low, high] = [0, this.states.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.states[middle] as TimedState).from <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
