// Applies changes of the tables of nf_tables: those of each family as one transaction.
import { ROLLED_BACK } from '../../../../kernel/errors.js';
import type { Family } from '../../../../kernel/net/address.js';
import type { TableWatch } from '../../nftablesRules/program/watch.js';
import { leaveOut } from '../../shared/program/leaveOut.js';
import { type Result, resultsOf } from '../../shared/program/result.js';
import type { Item } from '../plan/items.js';
import type { TableChange } from '../plan/operations.js';
import { type TableOperation, tableOperations } from '../plan/tableOperations.js';
import type { TablesKernel } from './kernel.js';

/** The change of an operation, with its place among all. */
export interface PlacedChange {
  readonly place: number;
  readonly family: Family;
  readonly change: TableChange;
}

/** Changes in a transaction at most: a change that needs more is not atomic, but the order of operations holds. */
const MOST = 65_536;

/**
 * Applies changes. A change that the kernel refuses is left out of its transaction; all others are made.
 *
 * @param results takes the error of each place
 */
export async function applyToTables(
  { nftables }: TablesKernel,
  tables: Pick<TableWatch<Item>, 'during' | 'look'>,
  all: readonly PlacedChange[],
  results: Result[],
): Promise<void> {
  for (const family of [4, 6] as const) {
    const ofFamily = all.filter((each) => each.family === family);
    for (let start = 0; start < ofFamily.length; start += MOST) {
      const placed = ofFamily.slice(start, start + MOST);
      const made = await leaveOut({
        changes: placed.map(({ change }) => change),
        send: (some) => send(nftables, tables, family, some),
        ownerOf: () => undefined,
        removes: (change) => change.do === 'delete',
      });
      for (const [i, { place }] of placed.entries()) results[place] = made[i];
      // Perhaps another program deleted the table.
      if (made.some((result) => result?.code === 'ENOENT')) tables.look(family);
    }
  }
}

/** One transaction. A change has the first error of its operations in the kernel. */
async function send(
  nftables: TablesKernel['nftables'],
  tables: Pick<TableWatch<Item>, 'during'>,
  family: Family,
  changes: readonly TableChange[],
): Promise<Result[]> {
  const transact = (operations: readonly TableOperation[]) =>
    resultsOf('nftables.apply', operations.length, () =>
      tables.during(changes.length, () => nftables.apply(operations.map(({ operation }) => operation))),
    );
  const results = await transact(tableOperations(family, changes));
  const failure = results.find((result) => result !== undefined);
  if (!failure || !isOfOne(results)) return new Array<Result>(changes.length).fill(failure);
  // Nothing was done. An operation has elements of many changes: made alone, each has its own error.
  const alone = tableOperations(family, changes, true);
  const errors = new Array<Result>(changes.length).fill(undefined);
  for (const [i, error] of (await transact(alone)).entries()) {
    const { change } = alone[i] as TableOperation;
    if (error && (errors[change] === undefined || errors[change].code === ROLLED_BACK))
      errors[change] = error;
  }
  return errors;
}

/** Whether one of the operations is to blame for a failure, and not the transaction as a whole. */
function isOfOne(results: readonly Result[]): boolean {
  return results.length === 1 || results.some((result) => result?.code === ROLLED_BACK);
}
