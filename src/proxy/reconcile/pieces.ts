// Divides the keys of a large pass into pieces, so that the kernel works on one piece while the next is prepared.

import { TimeSlice } from '../../kernel/timeSlice.js';
import type { KeyedOperation, Known } from '../modes/mode.js';
import type { DesiredState } from './desiredState.js';
import type { Piece } from './kernelState.js';
import { PIECE, type Planner } from './planner.js';

/**
 * The keys after all plans: those of the node, then those that only one Service has, with all keys of a Service in one
 * piece, then the others.
 */
export function* divide<Item, Operation extends KeyedOperation<Item>>(
  planner: Planner<Item, Operation>,
  services: Iterable<readonly string[]>,
  keys: Set<string>,
): Iterable<Piece> {
  const { desired, nodeKeys } = planner;
  yield { keys: [...nodeKeys].filter((key) => keys.delete(key)), last: false };
  let own: string[] = [];
  let [done, left] = [0, 0];
  for (const list of services) {
    for (const service of list)
      for (const key of desired.planOf(service)?.keys() ?? [])
        if (!desired.isShared(key) && keys.delete(key)) own.push(key);
    done += list.length;
    left -= list.length;
    if (left > 0) continue;
    yield { keys: own, last: false };
    own = [];
    left = planner.pieceAfter(done);
  }
  if (own.length > 0) yield { keys: own, last: false };
  yield { keys, last: true };
}

/**
 * Plans Services, and gives the keys that only one of them has, in pieces: the kernel works on one while others are planned. Keys of the
 * node that such a plan needs come before.
 */
export async function* ahead<Item, Operation extends KeyedOperation<Item>>(
  planner: Planner<Item, Operation>,
  services: Iterable<readonly string[]>,
): AsyncIterable<Piece> {
  const { desired } = planner;
  const given = new Set<string>();
  const slice = new TimeSlice();
  let own: string[] = [];
  const piece = (): Piece => {
    const node = [...planner.planRest()].filter((key) => !given.has(key));
    for (const key of node) given.add(key);
    const keys = [...node, ...own];
    own = [];
    return { keys, last: false };
  };
  let [done, left] = [0, 0];
  for (const list of services) {
    for (const key of await planner.plan(list, slice)) if (!desired.isShared(key)) own.push(key);
    done += list.length;
    left -= list.length;
    if (left > 0) continue;
    yield piece();
    left = planner.pieceAfter(done);
  }
  yield piece();
}

/**
 * Every key, desired or known, after all plans: one piece for few Services, otherwise in the order of {@link divide}.
 *
 * @param programmed Services whose keys were given by {@link ahead} since they were planned: only those that other Services have too are given again
 */
export async function* everything<Item, Operation extends KeyedOperation<Item>>(
  planner: Planner<Item, Operation>,
  known: Known<Item>,
  programmed: ReadonlySet<string> = new Set(),
): AsyncIterable<Piece> {
  const { desired } = planner;
  // Before anything is added: what is added is desired.
  const unwanted = await undesired(desired, known.keys());
  const few = desired.plans <= PIECE;
  const shared = new Set<string>();
  const slice = new TimeSlice();
  let keys = [...planner.nodeKeys];
  let [done, left] = [0, 0];
  for (const service of planner.services()) {
    if (!few && left-- === 0) {
      yield { keys, last: false };
      keys = [];
      left = planner.pieceAfter(done) - 1;
    }
    done++;
    const isDone = programmed.has(service);
    for (const key of desired.planOf(service)?.keys() ?? []) {
      if (desired.isShared(key)) {
        if (!planner.isVital(key)) shared.add(key);
      } else if (!isDone) keys.push(key);
      if (slice.spend(1)) await slice.yield();
    }
  }
  for (const key of planner.keptKeys) if (!desired.isShared(key)) keys.push(key);
  for (const key of shared) keys.push(key);
  for (const key of unwanted) keys.push(key);
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

/** Number of Services in pieces. */
export function countServices(pieces: readonly (readonly string[])[]): number {
  return pieces.reduce((count, services) => count + services.length, 0);
}
