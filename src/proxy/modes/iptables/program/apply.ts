// Applies operations, in order: settings first, then one restore for each family.
import type { Family } from '../../../../kernel/net/address.js';
import { leaveOut } from '../../shared/program/leaveOut.js';
import { type Result, resultOf, resultsOf } from '../../shared/program/result.js';
import type { Operation, OwnedChange } from '../plan/operations.js';
import type { IptablesKernel } from './kernel.js';

/** Returns one result per operation. A refused rule fails the operations of its Service in its family. */
export async function apply(kernel: IptablesKernel, operations: readonly Operation[]): Promise<Result[]> {
  const results = new Array<Result>(operations.length).fill(undefined);
  const families = new Map<Family, { places: number[]; changes: OwnedChange[] }>();
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
    const restored = await restore(kernel.iptables, family, changes);
    for (const [i, place] of places.entries()) results[place] = restored[i];
  }
  return results;
}

/** One restore. If the kernel refuses a rule, the Service that has it is left out of a second one. */
export function restore(
  iptables: Pick<IptablesKernel['iptables'], 'restore'>,
  family: Family,
  changes: readonly OwnedChange[],
): Promise<Result[]> {
  return leaveOut({
    changes,
    send: (some) => {
      const operations = some.map(({ operation }) => operation);
      return resultsOf('iptables.restore', some.length, () => iptables.restore(family, operations));
    },
    ownerOf: ({ service }) => service,
    removes: ({ operation: { do: verb } }) => verb === 'deleteRule' || verb === 'deleteChain',
  });
}
