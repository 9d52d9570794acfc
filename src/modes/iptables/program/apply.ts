// Applies operations, in order: settings first, then one restore for each family.
import { type Result, resultOf } from '../../shared/program/result.js';
import type { Operation, OwnedChange } from '../plan/operations.js';
import type { IptablesKernel } from './kernel.js';
import { restoreAndLeaveOut } from './leaveOut.js';

/** Returns one result per operation. A refused rule fails the operations of its Service in its family. */
export async function apply(kernel: IptablesKernel, operations: readonly Operation[]): Promise<Result[]> {
  const results = new Array<Result>(operations.length).fill(undefined);
  const families = new Map<4 | 6, { places: number[]; changes: OwnedChange[] }>();
  for (let place = 0; place < operations.length; place++) {
    const { call } = operations[place] as Operation;
    if (call.on === 'sysctl') {
      results[place] = await resultOf('sysctl.write', () => kernel.sysctl.write(call.name, call.value));
      continue;
    }
    const group = families.get(call.family) ?? { places: [], changes: [] };
    if (group.places.length === 0) families.set(call.family, group);
    group.places.push(place);
    group.changes.push(call);
  }
  for (const [family, { places, changes }] of families) {
    const restored = await restoreAndLeaveOut(kernel.iptables, family, changes);
    for (const [i, place] of places.entries()) results[place] = restored[i];
  }
  return results;
}
