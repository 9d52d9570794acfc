// Divides the keys of a large pass into pieces, so that the kernel works on one piece while the next is prepared.
import type { KeyedOperation } from '../modes/mode.js';
import { TimeSlice } from '../timeSlice.js';
import type { KernelState, Piece } from './kernelState.js';
import { PIECE, type PlannedKeys, type Planner } from './planner.js';

/** Lists of at most {@link PIECE} Services. */
export function* listsOf(services: Iterable<string>): Iterable<string[]> {
  let list: string[] = [];
  for (const service of services) {
    list.push(service);
    if (list.length < PIECE) continue;
    yield list;
    list = [];
  }
  if (list.length > 0) yield list;
}

/**
 * The keys after all plans: those of the node, then those that only one Service has, with all keys of a Service in one
 * piece, then the others.
 */
export function* divide<Item, Operation extends KeyedOperation>(
  { desired, nodeKeys }: Planner<Item, Operation>,
  services: Iterable<readonly string[]>,
  keys: Set<string>,
): Iterable<Piece> {
  yield { keys: [...nodeKeys].filter((key) => keys.delete(key)), last: false };
  for (const list of services) {
    const own = list.flatMap((service) => [...(desired.planOf(service)?.keys() ?? [])]);
    yield { keys: own.filter((key) => !desired.isShared(key) && keys.delete(key)), last: false };
  }
  yield { keys, last: true };
}

/** All keys, desired or known. Collected in time slices. */
export async function everyKey<Item, Operation extends KeyedOperation>(
  { desired }: Planner<Item, Operation>,
  { known }: KernelState<Item, Operation>,
): Promise<Set<string>> {
  const keys = new Set<string>();
  const slice = new TimeSlice();
  for (const map of [desired, known]) {
    for (const key of map.keys()) {
      keys.add(key);
      if (slice.spend(1)) await slice.yield();
    }
  }
  return keys;
}

/** The Services of the first pass. */
interface FirstServices {
  readonly planned: readonly PlannedKeys[];
  readonly unplanned: Iterable<readonly string[]>;
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
  { planned, unplanned }: FirstServices,
  node: Iterable<string>,
  shared: Set<string>,
): AsyncIterable<Piece> {
  const { desired } = planner;
  const waiting: string[] = [];
  const alone = (keys: Iterable<string>) =>
    [...keys].filter((key) => !(desired.isShared(key) && shared.add(key)));
  const ready = (plan: PlannedKeys): Piece => {
    waiting.push(...plan.waiting);
    return { keys: alone(plan.keys).filter((key) => !plan.waiting.has(key)), last: false };
  };
  yield { keys: node, last: false };
  for (const plan of planned) yield ready(plan);
  for (const list of unplanned) yield ready(await planner.plan(list));
  const keys = [...planner.planRest(), ...alone(waiting)];
  const slice = new TimeSlice();
  for (const key of known.keys()) {
    if (desired.get(key) === undefined) keys.push(key);
    if (slice.spend(1)) await slice.yield();
  }
  yield { keys, last: true };
}
