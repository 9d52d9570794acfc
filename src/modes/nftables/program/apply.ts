// Applies operations, in order: in transactions, each of one family.
import { ROLLED_BACK } from '../../../errors.js';
import type { NftablesOperation } from '../../../kernel/nftables/types.js';
import type { Family } from '../../../net/address.js';
import { TimeSlice } from '../../../timeSlice.js';
import { leaveOut } from '../../shared/program/leaveOut.js';
import { type Result, resultsOf } from '../../shared/program/result.js';
import { KernelOperations, kernelOperations } from '../plan/kernelOperations.js';
import type { Operation } from '../plan/operations.js';
import { slotsOf } from '../plan/slots.js';
import type { NftablesKernel } from './kernel.js';
import { recordRefused } from './refused.js';
import type { TableWatch } from './watch.js';

/**
 * Maximum chains in a transaction. To bind a set of a rule, the kernel walks the whole transaction: with 4000 chains, the first pass takes
 * a third more CPU time than with 512 or fewer. A change that needs more is not atomic, but the order of operations holds.
 */
const MOST_CHAINS = 512;

/**
 * Maximum elements in a transaction, which ends with the operation that exceeds it. After each transaction that has elements of verdict maps,
 * the kernel visits all elements of these maps, so that few transactions are better; with 65 536 elements, its own lists become slow.
 */
const MOST_ELEMENTS = 16_384;

/** The operations of the kernel for each transaction, in order. */
export type Prepared = readonly (readonly NftablesOperation[])[];

/** What {@link apply} sends, if the kernel refuses nothing. */
export async function prepare(operations: readonly Operation[]): Promise<Prepared> {
  const all: (readonly NftablesOperation[])[] = [];
  for (const places of transactionsOf(operations)) all.push(await merged(at(operations, places)));
  return all;
}

/** Returns one result for each operation. A refused operation fails those of its Service in its transaction. */
export async function apply(
  { nftables }: NftablesKernel,
  tables: Pick<TableWatch, 'during'>,
  operations: readonly Operation[],
  prepared?: Prepared,
): Promise<Result[]> {
  const results = new Array<Result>(operations.length).fill(undefined);
  for (const [number, places] of transactionsOf(operations).entries()) {
    const changes = at(operations, places);
    const made = await leaveOut({
      changes,
      send: async (some) => {
        const ahead = some === changes ? prepared?.[number] : undefined;
        return send(nftables, tables, some, ahead ?? (await merged(some)));
      },
      ownerOf,
      removes: (operation) => operation.do === 'delete',
    });
    for (const [i, place] of places.entries()) results[place] = made[i];
  }
  return results;
}

function at(operations: readonly Operation[], places: readonly number[]): Operation[] {
  return places.map((place) => operations[place] as Operation);
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
  return [...families.values()].flatMap((places) => divided(places, operations));
}

function divided(places: readonly number[], operations: readonly Operation[]): number[][] {
  const transactions: number[][] = [];
  let chains = MOST_CHAINS;
  let elements = MOST_ELEMENTS;
  for (const place of places) {
    const { item, from } = operations[place] as Operation;
    if (chains >= MOST_CHAINS || elements >= MOST_ELEMENTS) {
      transactions.push([]);
      chains = 0;
      elements = 0;
    }
    if (item.kind === 'element') elements += 1 + slotsOf(item) + slotsOf(from);
    else chains++;
    transactions.at(-1)?.push(place);
  }
  return transactions;
}

/** One transaction. An operation has the first error of its operations in the kernel. @param all its operations in the kernel, merged */
async function send(
  nftables: Pick<NftablesKernel['nftables'], 'apply'>,
  tables: Pick<TableWatch, 'during'>,
  operations: readonly Operation[],
  all: readonly NftablesOperation[],
): Promise<Result[]> {
  const transact = async (all: readonly NftablesOperation[]) =>
    resultsOf('nftables.apply', all.length, () =>
      tables.during(countElements(all), () => nftables.apply(all)),
    );
  const errorOf = ({ item }: Operation, results: readonly Result[], from: number, to: number) => {
    const error = firstError(results, from, to);
    if (error) recordRefused(error, item);
    return error;
  };
  const results = await transact(all);
  const failure = results.find((result) => result !== undefined);
  if (!failure || !isOfOne(results)) return new Array<Result>(operations.length).fill(failure);
  const [operation] = operations;
  if (operation && operations.length === 1) return [errorOf(operation, results, 0, results.length)];
  // Nothing was done. A merged operation has elements of many Services: made alone, each has its own error.
  const { each: alone, ends } = await unmerged(operations);
  const errors = await transact(alone);
  return operations.map((each, i) => errorOf(each, errors, ends[i - 1] ?? 0, ends[i] as number));
}

function countElements(operations: readonly NftablesOperation[]): number {
  let count = 0;
  for (const operation of operations) {
    if (operation.do !== 'addElements' && operation.do !== 'deleteElements') continue;
    const { elements } = operation;
    count += 'count' in elements ? elements.count : elements.length;
  }
  return count;
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
async function unmerged(operations: readonly Operation[]): Promise<{
  readonly each: readonly NftablesOperation[];
  readonly ends: readonly number[];
}> {
  const slice = new TimeSlice();
  const each: NftablesOperation[] = [];
  const ends: number[] = [];
  for (const operation of operations) {
    for (const one of kernelOperations(operation)) each.push(one);
    ends.push(each.length);
    if (slice.spend(1)) await slice.yield();
  }
  return { each, ends };
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
