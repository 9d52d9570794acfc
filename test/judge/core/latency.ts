// How long changes take to be seen by clients, and damage to be repaired, as the recorded traffic shows it.
import { frontendsByKey, keyOf } from './frontends.js';
import type { FaultPeriod, Observation, Recording } from './observations.js';
import type { ConnectionPromise } from './promise.js';
import type { Bounds } from './rules.js';
import { type TimedState, Timeline } from './timeline.js';

/** What takes time. */
export type LatencyKind =
  | 'service appears'
  | 'service goes'
  | 'endpoint is chosen'
  | 'endpoint is no longer chosen'
  | `repair of ${string}`;

/** Percentiles of times, in ms. They include the time until a client dials next, and are upper bounds by that much. */
export interface Latency {
  readonly kind: LatencyKind;
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly most: number;
}

/** The latencies of a recording by kind. Changes during a fault and its recovery are left out. */
export function latenciesOf(recording: Recording, bounds: Bounds): Map<LatencyKind, number[]> {
  const timeline = new Timeline(recording, bounds);
  const found = new Map<LatencyKind, number[]>();
  const add = (kind: LatencyKind, time: number | undefined) => {
    if (time !== undefined) found.set(kind, [...(found.get(kind) ?? []), Math.max(0, time)]);
  };
  const requests = recording.observations.filter(
    ({ use, target }) => use === 'once' && target.kind !== 'healthCheck',
  );
  timeline.states.forEach((timed, i) => {
    const before = timeline.states[i - 1];
    const until = timeline.states[i + 1]?.from ?? recording.ended;
    if (!before || timeline.isDisturbed(timed.from, until)) return;
    addStep(timeline, [before, timed], within(requests, timed.from, until), add);
  });
  for (const fault of recording.faults) {
    const after = within(requests, fault.ended, fault.ended + bounds.recovery);
    const failed = after.findLast((one) => isUnrepaired(one, fault, timeline));
    add(`repair of ${fault.fault}`, failed ? failed.ended - fault.ended : 0);
  }
  return found;
}

/** Whether a request shows that a fault is not repaired: it has no answer, or one that the objects of the earlier time alone permit. */
function isUnrepaired(one: Observation, { ended, restored }: FaultPeriod, timeline: Timeline): boolean {
  const { result, by = '', target } = one;
  if (result !== 'answered') {
    return timeline.window(one.began, one.ended, target).promises.every(({ answers }) => answers);
  }
  if (restored === undefined) return false;
  const permits = (time: number) => timeline.promiseOf(timeline.stateAt(time), target).may.has(by);
  return (
    permits(restored) &&
    !timeline.statesIn(ended, one.ended).some((state) => timeline.promiseOf(state, target).may.has(by))
  );
}

type Add = (kind: LatencyKind, time: number | undefined) => void;

/** The states before and after a change. */
type Step = readonly [before: TimedState, after: TimedState];

/** The latencies of one change of the state, until the next one. */
function addStep(
  timeline: Timeline,
  [before, after]: Step,
  requests: readonly Observation[],
  add: Add,
): void {
  const [old, fresh] = [frontendsByKey(before.state), frontendsByKey(after.state)];
  const services = new Set([...before.state.services.keys(), ...after.state.services.keys()]);
  for (const service of services) {
    const own = requests.filter(({ target }) => {
      const key = keyOf(target);
      return (fresh.get(key) ?? old.get(key))?.service === service;
    });
    const answered = own.filter(({ result }) => result === 'answered');
    const [was, is] = [before.state.services.has(service), after.state.services.has(service)];
    const first = answered[0];
    if (!was && is) add('service appears', first && first.ended - after.from);
    else if (was && !is) add('service goes', last(answered, after.from));
    else addEndpoints(timeline, [before, after], answered, add);
  }
}

function addEndpoints(
  timeline: Timeline,
  [before, after]: Step,
  answered: readonly Observation[],
  add: Add,
): void {
  const come = new Map<string, number>();
  const gone = new Map<string, number>();
  for (const { target, by = '', began, ended } of answered) {
    const [old, fresh] = [before, after].map(({ state }) => timeline.promiseOf(state, target)) as [
      ConnectionPromise,
      ConnectionPromise,
    ];
    for (const pod of old.may) if (!fresh.may.has(pod) && !gone.has(pod)) gone.set(pod, 0);
    if (gone.has(by) && !fresh.may.has(by)) gone.set(by, began - after.from);
    if (fresh.may.has(by) && !old.may.has(by) && !come.has(by)) come.set(by, ended - after.from);
  }
  for (const time of come.values()) add('endpoint is chosen', time);
  for (const time of gone.values()) add('endpoint is no longer chosen', time);
}

function last(answered: readonly Observation[], from: number): number {
  return (answered.at(-1)?.began ?? from) - from;
}

/** Requests that began in a time; they are sorted by their ends, and so nearly by their beginnings. */
function within(requests: readonly Observation[], from: number, to: number): Observation[] {
  return requests.filter(({ began }) => began >= from && began < to);
}

/** Percentiles of each kind. */
export function percentilesOf(latencies: ReadonlyMap<LatencyKind, readonly number[]>): Latency[] {
  return [...latencies].map(([kind, times]) => {
    const sorted = times.toSorted((a, b) => a - b);
    const at = (part: number) => Math.round(sorted[Math.ceil(part * sorted.length) - 1] ?? 0);
    return { kind, count: sorted.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), most: at(1) };
  });
}
