// Divides the keys of a large pass into pieces, so that the kernel works on one piece while the next is prepared.
import type { KeyedOperation, Known } from '../modes/mode.js';
import { TimeSlice } from '../timeSlice.js';
import type { DesiredState } from './desiredState.js';
import type { KernelState, Piece } from './kernelState.js';
import { PIECE, type PlannedKeys, type Planner } from './planner.js';

/**
 * The keys after all plans: those of the node, then those that only one Service has, with all keys of a Service in one
 * piece, then the others.
 */
export async function* divide<Item, Operation extends KeyedOperation>(
  { desired, nodeKeys }: Planner<Item, Operation>,
  services: Iterable<readonly string[]>,
  keys: Set<string>,
): AsyncIterable<Piece> {
  yield { keys: [...nodeKeys].filter((key) => keys.delete(key)), last: false };
  const slice = new TimeSlice();
  for (const list of services) {
    const own: string[] = [];
    for (const service of list) {
      for (const key of desired.planOf(service)?.keys() ?? []) {
        if (!desired.isShared(key) && keys.delete(key)) own.push(key);
        if (slice.spend(1)) await slice.yield();
      }
    }
    yield { keys: own, last: false };
  }
  yield { keys, last: true };
}

/** Every key, desired or known, after all plans: one piece for few Services, otherwise in the order of {@link divide}. */
export async function* everything<Item, Operation extends KeyedOperation>(
  planner: Planner<Item, Operation>,
  known: Known<Item>,
): AsyncIterable<Piece> {
  const { desired } = planner;
  const few = desired.plans <= PIECE;
  const shared = new Set<string>();
  const slice = new TimeSlice();
  let keys = [...planner.nodeKeys];
  let services = 0;
  for (const service of planner.services()) {
    if (!few && services++ % PIECE === 0) {
      yield { keys, last: false };
      keys = [];
    }
    for (const key of desired.planOf(service)?.keys() ?? []) {
      if (!desired.isShared(key)) keys.push(key);
      else if (!planner.isVital(key)) shared.add(key);
      if (slice.spend(1)) await slice.yield();
    }
  }
  for (const key of planner.keptKeys) if (!desired.isShared(key)) keys.push(key);
  for (const key of shared) keys.push(key);
  for (const key of await undesired(desired, known.keys())) keys.push(key);
  yield { keys, last: true };
}

/** The known keys that are not desired. Collected in time slices. */
async function undesired<Item>(desired: DesiredState<Item>, known: Iterable<string>): Promise<string[]> {
  const keys: string[] = [];
  const slice = new TimeSlice();
  for (const key of known) {
    if (!desired.has(key)) keys.push(key);
    if (slice.spend(1)) await slice.yield();
  }
  return keys;
}

/** The Services of the first pass. */
export interface FirstServices {
  /** Services that changed after they had been planned, and were planned again. */
  readonly again: readonly PlannedKeys[];
  /** All that were planned before the programming, with those of `again`. */
  readonly planned: readonly PlannedKeys[];
  readonly unplanned: Iterable<readonly string[]>;
}

/**
 * Plans the Services that changed after they had been planned in this pass, before anything is programmed: an item whose
 * addition is under way is not known yet, and could be neither removed nor changed.
 *
 * @param earlier the Services that have been planned
 * @param late those that changed meanwhile
 * @returns the keys of those in both, and the pieces of the others
 */
export async function planAgain<Item, Operation extends KeyedOperation>(
  planner: Planner<Item, Operation>,
  earlier: readonly string[][],
  late: readonly string[][],
): Promise<{ readonly again: readonly PlannedKeys[]; readonly others: readonly string[][] }> {
  const again: PlannedKeys[] = [];
  const others: string[][] = [];
  const done = new Set(late.length > 0 ? earlier.flat() : []);
  for (const piece of late) {
    const planned = piece.filter((name) => done.has(name));
    const rest = piece.filter((name) => !done.has(name));
    if (planned.length > 0) again.push(await planner.plan(planned));
    if (rest.length > 0) others.push(rest);
  }
  return { again, others };
}

/**
 * Plans Services and yields their keys at once, before those of later Services are planned.
 *
 * @param node keys of the node's items that the kernel needs before those of Services
 * @param shared receives the keys that several Services have: their items may change with each plan
 */
export async function* planAhead<Item, Operation extends KeyedOperation>(
  planner: Planner<Item, Operation>,
  { known }: KernelState<Item, Operation>,
  { again, planned, unplanned }: FirstServices,
  node: Iterable<string>,
  shared: Set<string>,
): AsyncIterable<Piece> {
  const { desired } = planner;
  /** The others are added by this pass, and are desired. */
  const found = [...known.keys()];
  const waiting: string[] = [];
  /** Keys of Services that were planned twice: they are compared once. */
  const twice = new Set<string>();
  const slice = new TimeSlice();
  const ready = async (plan: PlannedKeys): Promise<Piece> => {
    const keys: string[] = [];
    for (const key of plan.keys) {
      if (slice.spend(1)) await slice.yield();
      // Those that are not desired are in the last piece.
      if (twice.has(key) || !desired.has(key)) continue;
      if (desired.isShared(key)) shared.add(key);
      else if (plan.waiting.has(key)) waiting.push(key);
      else keys.push(key);
    }
    return { keys, last: false };
  };
  yield { keys: node, last: false };
  for (const plan of again) {
    yield await ready(plan);
    for (const key of plan.keys) twice.add(key);
  }
  for (const plan of planned) yield await ready(plan);
  for (const list of unplanned) yield await ready(await planner.plan(list));
  const keys = new Set(planner.planRest());
  for (const key of waiting) {
    if (desired.isShared(key)) shared.add(key);
    else keys.add(key);
  }
  for (const key of await undesired(desired, found)) keys.add(key);
  yield { keys, last: true };
}

/** Number of Services in pieces. */
export function countServices(pieces: readonly (readonly string[])[]): number {
  return pieces.reduce((count, services) => count + services.length, 0);
}
