// Applies operations, in order: in transactions, each of one family.
import { ROLLED_BACK } from '../../../../kernel/errors.js';
import type { Family } from '../../../../kernel/net/address.js';
import type { NftablesOperation } from '../../../../kernel/nftables/types.js';
import { TimeSlice } from '../../../../kernel/timeSlice.js';
import type { TableWatch } from '../../nftablesRules/program/watch.js';
import { leaveOut } from '../../shared/program/leaveOut.js';
import { type Result, resultsOf } from '../../shared/program/result.js';
import { type Item, keyOf } from '../plan/items.js';
import { KernelOperations, kernelOperations } from '../plan/kernelOperations.js';
import type { Operation } from '../plan/operations.js';
import { slotsOf } from '../plan/slots.js';
import type { NftablesKernel } from './kernel.js';
import { readFlowTable } from './observe.js';
import { recordRefused } from './refused.js';
import { ownSets, TakenNames } from './takenNames.js';

/**
 * Maximum chains in a transaction. To bind a set of a rule, the kernel walks the whole transaction: with 4000 chains, the first pass takes
 * a third more CPU time than with 256. A change that needs more is not atomic, but the order of operations holds.
 */
const MOST_CHAINS = 512;

/**
 * Maximum elements in a transaction, which ends with the operation that exceeds it. After each transaction that has elements of verdict maps,
 * the kernel visits all elements of these maps: this has room for the largest piece of a pass, if its Services have ten endpoints.
 */
const MOST_ELEMENTS = 98_304;

/** A transaction with some of the operations. */
export interface Transaction {
  /** Their places among all. */
  readonly places: readonly number[];
  readonly changes: readonly Operation[];
  /** Those of the kernel for them, if they were prepared. */
  readonly merged?: readonly NftablesOperation[];
}

/** The transactions that {@link apply} sends, if the kernel refuses nothing. */
export async function prepare(operations: readonly Operation[]): Promise<Transaction[]> {
  const prepared: Transaction[] = [];
  for (const transaction of transactionsOf(operations))
    prepared.push({ ...transaction, merged: await merge(transaction.changes) });
  return prepared;
}

/** Returns one result for each operation. A refused operation fails those of its Service in its transaction. */
export async function apply(
  { nftables }: NftablesKernel,
  tables: Pick<TableWatch<Item>, 'during'>,
  operations: readonly Operation[],
  transactions: readonly Transaction[] = transactionsOf(operations),
): Promise<Result[]> {
  const results = new Array<Result>(operations.length).fill(undefined);
  for (const transaction of transactions) {
    const { places, changes, merged } = await withoutGoneLinks(nftables, transaction);
    if (changes.length === 0) continue;
    const made = await leaveOut({
      changes,
      send: (some) => send(nftables, tables, some, some === changes ? merged : undefined),
      ownerOf,
      removes: (operation) => operation.do === 'delete',
    });
    for (const [i, place] of places.entries()) results[place] = made[i];
  }
  return results;
}

/**
 * A transaction without the links that the flow table no longer has: before Linux 6.16, the kernel takes out a link that is deleted, and
 * notifies nobody.
 */
async function withoutGoneLinks(
  nftables: Pick<NftablesKernel['nftables'], 'listFlowTables'>,
  transaction: Transaction,
): Promise<Transaction> {
  const { places, changes } = transaction;
  const isLink = ({ do: verb, item }: Operation) => verb === 'delete' && item.kind === 'device';
  const family = changes.find(isLink)?.item.family;
  if (family === undefined) return transaction;
  const { items } = await readFlowTable(nftables, family);
  const there = new Set(items.map(keyOf));
  const rest = places.filter((_, i) => {
    const change = changes[i] as Operation;
    return !isLink(change) || there.has(change.key);
  });
  if (rest.length === places.length) return transaction;
  const kept = new Set(rest);
  return { places: rest, changes: changes.filter((_, i) => kept.has(places[i] as number)) };
}

/**
 * The Service of an operation. Chains and sets that are deleted fail alone: while something still refers to one, the elements that lead to
 * its Service must go nevertheless.
 */
function ownerOf({ do: verb, item, service }: Operation): string | undefined {
  return verb === 'delete' && item.kind !== 'element' ? undefined : service;
}

function transactionsOf(operations: readonly Operation[]): Transaction[] {
  const families = new Map<Family, number[]>();
  for (const [place, { item }] of operations.entries()) {
    const places = families.get(item.family);
    if (places) places.push(place);
    else families.set(item.family, [place]);
  }
  return [...families.values()].flatMap((places) => divided(places, operations));
}

/** In order, and of bounded size. */
function divided(places: readonly number[], operations: readonly Operation[]): Transaction[] {
  const transactions: Transaction[] = [];
  let chains = 0;
  let elements = 0;
  for (let first = 0, end = 1; first < places.length; end++) {
    const { item, from } = operations[places[end - 1] as number] as Operation;
    if (item.kind === 'element') elements += 1 + slotsOf(item) + slotsOf(from);
    else chains++;
    if (end < places.length && chains < MOST_CHAINS && elements < MOST_ELEMENTS) continue;
    const some = places.slice(first, end);
    transactions.push({ places: some, changes: some.map((place) => operations[place] as Operation) });
    [first, chains, elements] = [end, 0, 0];
  }
  return transactions;
}

/** One transaction. An operation has the first error of its operations in the kernel. @param merged its operations in the kernel, if they were prepared */
async function send(
  nftables: Pick<NftablesKernel['nftables'], 'apply'>,
  tables: Pick<TableWatch<Item>, 'during'>,
  operations: readonly Operation[],
  merged: readonly NftablesOperation[] | undefined,
): Promise<Result[]> {
  const transact = async (some: readonly NftablesOperation[]) =>
    resultsOf('nftables.apply', some.length, () =>
      tables.during(countElements(some), () => nftables.apply(some)),
    );
  const errorOf = ({ item }: Operation, results: readonly Result[], from: number, to: number) => {
    const error = firstError(results, from, to);
    if (error) recordRefused(error, item);
    return error;
  };
  const names = new TakenNames();
  let all = merged ?? (await merge(operations, names));
  let results = await transact(all);
  while (names.learn(all, results)) {
    all = await merge(operations, names);
    results = await transact(all);
  }
  const failure = results.find((result) => result !== undefined);
  if (!failure || !isOfOne(results)) return new Array<Result>(operations.length).fill(failure);
  const [operation] = operations;
  if (operation && operations.length === 1) return [errorOf(operation, results, 0, results.length)];
  // Nothing was done. A merged operation has elements of many Services: made alone, each has its own error.
  const { each: alone, ends } = await unmerged(operations, names);
  const errors = await transact(alone);
  return operations.map((each, i) => errorOf(each, errors, ends[i - 1] ?? 0, ends[i] as number));
}

/** Number of elements that the operations add and delete, those of the sets of rules included. */
function countElements(operations: readonly NftablesOperation[]): number {
  let count = 0;
  for (const operation of operations) {
    if (operation.do === 'addRule') {
      for (const set of ownSets(operation)) count += set.elements.length;
    } else if (operation.do === 'addElements' || operation.do === 'deleteElements') {
      const { elements } = operation;
      count += 'count' in elements ? elements.count : elements.length;
    }
  }
  return count;
}

/** Whether one of the operations is to blame for a failure, and not the transaction as a whole. */
function isOfOne(results: readonly Result[]): boolean {
  return results.length === 1 || results.some((result) => result?.code === ROLLED_BACK);
}

async function merge(
  operations: readonly Operation[],
  names?: TakenNames,
): Promise<readonly NftablesOperation[]> {
  const slice = new TimeSlice();
  const all = new KernelOperations();
  for (const operation of operations) {
    all.add(operation, names?.nameOf);
    if (slice.spend(1)) await slice.yield();
  }
  return all.take();
}

/** The same, without merging. @returns for each operation, the place behind its last one */
async function unmerged(
  operations: readonly Operation[],
  { nameOf }: TakenNames,
): Promise<{ readonly each: readonly NftablesOperation[]; readonly ends: readonly number[] }> {
  const slice = new TimeSlice();
  const each: NftablesOperation[] = [];
  const ends: number[] = [];
  for (const operation of operations) {
    for (const one of kernelOperations(operation, nameOf)) each.push(one);
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
