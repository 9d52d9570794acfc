// The first piece of the first pass.
import type { KeyedOperation, Mode } from '../modes/mode.js';
import type { KernelState } from './kernelState.js';
import type { Planner } from './planner.js';
import type { PassRecord } from './summary.js';

/**
 * Programs the first Services and the items of the node, if the kernel has no items of this proxy. A pod needs the vital Services before it can
 * find another Service. Items of an earlier proxy may serve Services that are not planned yet: the pass changes them when it has planned all.
 *
 * @returns whether the Services were programmed
 */
export async function programFirst<Item, Operation extends KeyedOperation<Item>>(
  mode: Pick<Mode<Item, Operation>, 'items'>,
  planner: Planner<Item, Operation>,
  kernel: KernelState<Item, Operation>,
  services: readonly string[],
  record: PassRecord,
): Promise<boolean> {
  for (const item of kernel.known.values()) if (mode.items.isOurs(item)) return false;
  const node = planner.planRest();
  const keys = services.flatMap((service) => [...(planner.desired.planOf(service)?.keys() ?? [])]);
  await kernel.program(
    [node, keys].map((each) => ({ keys: each, last: false })),
    record,
  );
  return true;
}
