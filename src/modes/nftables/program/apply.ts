// Applies operations, in order: in transactions, each of one family.
import { ROLLED_BACK } from '../../../errors.js';
import type { NftablesOperation } from '../../../kernel/nftables/types.js';
import type { Family } from '../../../net/address.js';
import { TimeSlice } from '../../../timeSlice.js';
import { leaveOut } from '../../shared/program/leaveOut.js';
import { type Result, resultsOf } from '../../shared/program/result.js';
import { KernelOperations, kernelOperations } from '../plan/kernelOperations.js';
import type { Operation } from '../plan/operations.js';
import type { NftablesKernel } from './kernel.js';
import type { OwnGenerations } from './ownGenerations.js';
import { recordRefused } from './refused.js';

/**
 * Maximum operations of the mode in a transaction: some 256 Services. To bind a set of a rule, the kernel walks the whole transaction;
 * a change that needs more is not atomic, but the order of operations holds.
 */
const MOST = 2048;

/** Returns one result for each operation. A refused operation fails those of its Service in its transaction. */
export async function apply(
  { nftables }: NftablesKernel,
  own: OwnGenerations,
  operations: readonly Operation[],
): Promise<Result[]> {
  const results = new Array<Result>(operations.length).fill(undefined);
  for (const places of transactionsOf(operations)) {
    const made = await leaveOut({
      changes: places.map((place) => operations[place] as Operation),
      send: (some) => send(nftables, own, some),
      ownerOf,
      removes: (operation) => operation.do === 'delete',
    });
    for (const [i, place] of places.entries()) results[place] = made[i];
  }
  return results;
}

/**
 * The Service of an operation. Chains and sets that are deleted fail alone: while something still refers to one, the elements that lead to
 * its Service must go nevertheless.
 */
function ownerOf({ do: verb, item, service }: Operation): string | undefined {
  return verb === 'delete' && item.kind !== 'element' ? undefined : service;
}

/** The places of the operations of each transaction. */
function transactionsOf(operations: readonly Operation[]): number[][] {
  const families = new Map<Family, number[]>();
  for (const [place, { item }] of operations.entries()) {
    const places = families.get(item.family);
    if (places) places.push(place);
    else families.set(item.family, [place]);
  }
  const transactions: number[][] = [];
  for (const places of families.values())
    for (let first = 0; first < places.length; first += MOST)
      transactions.push(places.slice(first, first + MOST));
  return transactions;
}

/** One transaction. An operation has the first error of its operations in the kernel. */
async function send(
  nftables: Pick<NftablesKernel['nftables'], 'apply'>,
  own: OwnGenerations,
  operations: readonly Operation[],
): Promise<Result[]> {
  const transact = async (all: readonly NftablesOperation[]) =>
    resultsOf('nftables.apply', all.length, () => own.during(() => nftables.apply(all)));
  const errorOf = ({ item }: Operation, results: readonly Result[], from: number, to: number) => {
    const error = firstError(results, from, to);
    if (error) recordRefused(error, item);
    return error;
  };
  const results = await transact(await merged(operations));
  const failure = results.find((result) => result !== undefined);
  if (!failure || !isOfOne(results)) return new Array<Result>(operations.length).fill(failure);
  const [operation] = operations;
  if (operation && operations.length === 1) return [errorOf(operation, results, 0, results.length)];
  // Nothing was done. A merged operation has elements of many Services: made alone, each has its own error.
  const { all, ends } = await divided(operations);
  const errors = await transact(all);
  return operations.map((each, i) => errorOf(each, errors, ends[i - 1] ?? 0, ends[i] as number));
}

/** Whether one of the operations is to blame for a failure, and not the transaction as a whole. */
function isOfOne(results: readonly Result[]): boolean {
  return results.length === 1 || results.some((result) => result?.code === ROLLED_BACK);
}

async function merged(operations: readonly Operation[]): Promise<readonly NftablesOperation[]> {
  const slice = new TimeSlice();
  const all = new KernelOperations();
  for (const operation of operations) {
    all.add(operation);
    if (slice.spend(1)) await slice.yield();
  }
  return all.take();
}

/** The same, without merging. @returns for each operation, the place behind its last one */
async function divided(operations: readonly Operation[]): Promise<{
  readonly all: readonly NftablesOperation[];
  readonly ends: readonly number[];
}> {
  const slice = new TimeSlice();
  const all: NftablesOperation[] = [];
  const ends: number[] = [];
  for (const operation of operations) {
    for (const each of kernelOperations(operation)) all.push(each);
    ends.push(all.length);
    if (slice.spend(1)) await slice.yield();
  }
  return { all, ends };
}

/** Of the results from one place up to another, the first that is to blame; else the first error. */
function firstError(results: readonly Result[], from: number, to: number): Result {
  let first: Result;
  for (let place = from; place < to; place++) {
    const result = results[place];
    if (result && result.code !== ROLLED_BACK) return result;
    first ??= result;
  }
  return first;
}
