// The items in the kernel as far as they are known, and the operations that change them.
import type { NetlinkError } from '../../kernel/errors.js';
import { TimeSlice } from '../../kernel/timeSlice.js';
import type { Comparison, Desired, KeyedOperation, Known, Mode } from '../modes/mode.js';
import type { Before } from './drift.js';
import type { Planner } from './planner.js';
import type { PassRecord } from './summary.js';
import { UnknownItems } from './unknownItems.js';

/** No desired items. */
const NOTHING: Desired<never> = {
  get: () => undefined,
  keys: () => new Map<string, never>().keys(),
  groupSize: () => 0,
  group: () => new Set(),
  groups: () => [],
};

/** Keys to compare. The keys of a Service are in one piece. */
export interface Piece {
  readonly keys: Iterable<string>;
  /** No piece follows. */
  readonly last: boolean;
}

/** Operations that the kernel carries out. */
interface Applied<Operation> {
  readonly operations: readonly Operation[];
  readonly results: Promise<readonly (NetlinkError | undefined)[]>;
  /** Those that repair changes by other programs. */
  readonly repairs: ReadonlySet<Operation>;
}

/** Called with the key of each operation. */
interface OperationEvents {
  /** The kernel accepted or refused it. */
  tried(key: string): void;
  /** The kernel accepted it. @param isRepair it repaired a change by another program */
  accepted(key: string, isRepair: boolean): void;
}

/** The known items, and those that are unknown. */
export class KernelState<Item, Operation extends KeyedOperation<Item>> {
  known: Known<Item> = new Map();
  /** Those whose last operation failed. They are not changed until they have been read again. */
  readonly unknown: UnknownItems<Item>;
  readonly #mode: Mode<Item, Operation>;
  readonly #planner: Planner<Item, Operation>;
  readonly #events: OperationEvents;
  /** Number of known items that were replaced by the desired ones since all were read; undefined when {@link compact} was called since then. */
  #replaced: number | undefined;

  /** @param now monotonic time, in ms */
  constructor(
    mode: Mode<Item, Operation>,
    planner: Planner<Item, Operation>,
    events: OperationEvents,
    now: () => number,
  ) {
    this.#mode = mode;
    this.#planner = planner;
    this.#events = events;
    this.unknown = new UnknownItems(planner, now);
  }

  /** All items were read. */
  observed(known: Known<Item>): void {
    this.known = known;
    this.#replaced = 0;
  }

  /** The operations for these keys, in order. */
  async differences(keys: Iterable<string>): Promise<Operation[]> {
    const comparison = this.#compare();
    await this.#look(comparison, keys);
    return [...comparison.additions(), ...comparison.removals()];
  }

  /**
   * Brings the items of the keys to their desired state. While the kernel makes the additions of a piece, the results of
   * the one before are recorded, and the next one is planned, compared and prepared. All removals follow all additions. If
   * a piece rejects, the ones before it have been applied.
   */
  async program(pieces: AsyncIterable<Piece> | Iterable<Piece>, record: PassRecord): Promise<void> {
    const comparison = this.#compare();
    let underWay: Applied<Operation> | undefined;
    try {
      for await (const { keys, last } of pieces) {
        await this.#look(comparison, keys);
        const additions = comparison.additions();
        const operations = last ? additions.concat(comparison.removals()) : additions;
        await this.#mode.prepare?.(operations);
        const before = underWay;
        if (before) await record.waitFor(before.results);
        underWay = this.#begin(operations, record);
        if (before) await this.#end(before, record);
      }
    } finally {
      if (underWay) await this.#end(underWay, record);
    }
  }

  /** Applies operations. Items of failed ones are unknown. */
  async apply(operations: readonly Operation[], record: PassRecord): Promise<void> {
    await this.#end(this.#begin(operations, record), record);
  }

  #begin(operations: readonly Operation[], record: PassRecord): Applied<Operation> {
    const repairs = record.countItems(operations);
    const results = operations.length === 0 ? Promise.resolve([]) : this.#mode.apply(operations);
    results.catch(() => {}); // Whoever awaits it next rejects.
    return { operations, results, repairs };
  }

  /** Records the results of operations. */
  async #end(
    { operations, results: applied, repairs }: Applied<Operation>,
    record: PassRecord,
  ): Promise<void> {
    const results = await record.waitFor(applied);
    const slice = new TimeSlice();
    for (let i = 0; i < operations.length; i++) {
      const operation = operations[i] as Operation;
      const error = results[i];
      // For a failure, its Service may be planned again.
      if (slice.spend(error ? undefined : 1)) await slice.yield();
      this.#events.tried(operation.key);
      if (error) this.#fail(operation, error, record);
      else {
        this.#learn(operation);
        record.accepted++;
        if (repairs.has(operation)) record.addRepair(operation);
        this.#events.accepted(operation.key, repairs.has(operation));
      }
    }
  }

  /**
   * Reads single items from the kernel. Those that cannot be read are unknown.
   *
   * @param desired items that the kernel cannot report alone count as different from these
   * @returns the keys of the others
   */
  async readAlone(
    items: ReadonlyMap<string, Item | undefined>,
    desired: Desired<Item>,
    record: PassRecord,
  ): Promise<string[]> {
    const found = await record.waitFor(this.#mode.observeAlone(items, desired));
    for (const [key, error] of found.failures) {
      this.unknown.read(key); // The reading is the attempt that failed.
      this.unknown.add(key, items.get(key), error);
      record.failures.push(this.#planner.failureOf(key, error));
    }
    const read = [...items.keys()].filter((key) => !found.failures.has(key));
    for (const key of read) {
      const item = found.items.get(key);
      if (item === undefined) this.known.delete(key);
      else this.known.set(key, item);
      this.unknown.read(key);
    }
    return read;
  }

  /** Reads known items again. Those that the kernel cannot report alone stay as they are known. */
  readAgain(keys: readonly string[], record: PassRecord): Promise<string[]> {
    return this.readAlone(new Map(keys.map((key) => [key, this.known.get(key)])), NOTHING, record);
  }

  /**
   * Reads unknown items, and the items on which they depend. Returns the keys that have been read.
   *
   * @param isRead receives each key before it is read, with what was known of its item
   */
  retry(
    keys: readonly string[],
    record: PassRecord,
    isRead: (key: string, before: Before) => void = () => {},
  ): Promise<string[]> {
    const { desired } = this.#planner;
    const items = new Map(keys.map((key) => [key, this.unknown.items.get(key)]));
    for (const key of keys) {
      const item = desired.get(key);
      if (item === undefined) continue;
      for (const other of this.#mode.transactions?.dependsOn(item) ?? []) {
        if (!items.has(other)) items.set(other, this.known.get(other) ?? desired.get(other));
      }
    }
    for (const key of items.keys())
      isRead(key, { known: this.known.has(key), failed: this.unknown.items.has(key) });
    return this.readAlone(items, desired, record);
  }

  /** Saves memory if many of the items that were read are desired: in a copy, their keys are the same texts as those of the desired items. */
  async compact(): Promise<void> {
    const isWorthwhile = (this.#replaced ?? 0) > this.known.size / 4;
    this.#replaced = undefined;
    if (!isWorthwhile) return;
    const { known } = this;
    const { desired } = this.#planner;
    const copy = new Map<string, Item>();
    const slice = new TimeSlice();
    for (const key of desired.keys()) {
      const item = known.get(key);
      if (item !== undefined) copy.set(key, item);
      if (slice.spend(1)) await slice.yield();
    }
    for (const [key, item] of known) {
      if (!desired.has(key)) copy.set(key, item);
      if (slice.spend(1)) await slice.yield();
    }
    this.known = copy;
  }

  #compare() {
    return this.#mode.compare(this.#planner.desired, this.known, this.unknown.items);
  }

  /** Compares the keys that are not unknown. Saves memory: known items that equal the desired ones become the same objects. */
  async #look(comparison: Comparison<Item, Operation>, keys: Iterable<string>): Promise<void> {
    const slice = new TimeSlice();
    for (const key of keys) {
      if (slice.spend(1)) await slice.yield();
      if (this.unknown.items.has(key)) continue;
      const same = comparison.look(key);
      if (same === undefined) continue;
      this.known.set(key, same);
      if (this.#replaced !== undefined) this.#replaced++;
    }
  }

  /** The kernel acknowledged the operation. */
  #learn(operation: Operation): void {
    const { key, becomes } = operation;
    const before = this.#mode.acknowledged && this.known.get(key);
    if (becomes === undefined) this.known.delete(key);
    else this.known.set(key, becomes);
    this.#mode.acknowledged?.(operation, before);
  }

  #fail(operation: Operation, error: NetlinkError, record: PassRecord): void {
    const { key, becomes } = operation;
    this.unknown.add(key, becomes ?? this.known.get(key), error);
    record.failures.push(this.#planner.failureOf(key, error));
  }
}
