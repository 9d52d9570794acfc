// Applies operations, in order: settings first, then one restore for each family.
import type { IptablesOperation } from '../../kernel/iptables/types.js';
import { type Result, resultOf } from '../shared/result.js';
import type { IptablesKernel } from './kernel.js';
import type { Operation } from './operations.js';

/** Returns one result per operation. The operations of a family share the error of their restore. */
export async function apply(kernel: IptablesKernel, operations: readonly Operation[]): Promise<Result[]> {
  const results = new Array<Result>(operations.length).fill(undefined);
  const families = new Map<4 | 6, { places: number[]; changes: IptablesOperation[] }>();
  for (const [place, { call }] of operations.entries()) {
    if (call.on === 'sysctl') {
      results[place] = await resultOf('sysctl.write', () => kernel.sysctl.write(call.name, call.value));
      continue;
    }
    const group = families.get(call.family) ?? { places: [], changes: [] };
    families.set(call.family, group);
    group.places.push(place);
    group.changes.push(call.operation);
  }
  for (const [family, { places, changes }] of families) {
    const error = await resultOf('iptables.restore', () => kernel.iptables.restore(family, changes));
    for (const place of places) results[place] = error;
  }
  return results;
}
