// The items in the kernel as far as they are known, and the operations that change them.
import type { NetlinkError } from '../errors.js';
import type { Desired, KeyedOperation, Known, Mode } from '../modes/mode.js';
import { TimeSlice } from '../timeSlice.js';
import { applyOperations } from './applyOperations.js';
import type { Planner } from './planner.js';
import type { PassRecord } from './summary.js';

/** No desired items. */
const NOTHING: Desired<never> = {
  get: () => undefined,
  keys: () => new Map<string, never>().keys(),
  groupSize: () => 0,
  group: () => new Set(),
};

/** Keys to compare. The keys of a Service are in one piece. */
export interface Piece {
  readonly keys: Iterable<string>;
  /** No piece follows. */
  readonly last: boolean;
}

/** The known items, and those that are unknown. */
export class KernelState<Item, Operation extends KeyedOperation> {
  known: Known<Item> = new Map();
  /** Keys whose last operation failed, with its item. They are not changed until they have been read again. */
  readonly unknown = new Map<string, Item | undefined>();
  readonly #mode: Mode<Item, Operation>;
  readonly #planner: Planner<Item, Operation>;
  readonly #tried: (key: string) => void;
  /** Number of known items that were replaced by the desired ones since the last copy. */
  #replaced = 0;

  /** @param tried called with the key of each operation */
  constructor(mode: Mode<Item, Operation>, planner: Planner<Item, Operation>, tried: (key: string) => void) {
    this.#mode = mode;
    this.#planner = planner;
    this.#tried = tried;
  }

  /** The operations for these keys, in order. */
  async differences(keys: Iterable<string>): Promise<Operation[]> {
    const comparison = this.#compare();
    await this.#look(comparison, keys);
    return [...comparison.additions(), ...comparison.removals()];
  }

  /**
   * Brings the items of the keys to their desired state. While the kernel makes the additions of a piece, the next
   * piece is planned and compared, and then waits. All removals follow all additions. If a piece rejects, the ones
   * before it have been applied.
   */
  async program(pieces: AsyncIterable<Piece> | Iterable<Piece>, record: PassRecord): Promise<void> {
    const comparison = this.#compare();
    let underWay = Promise.resolve();
    try {
      for await (const { keys, last } of pieces) {
        const looked = await this.#look(comparison, keys);
        const operations = comparison.additions();
        if (last) operations.push(...comparison.removals());
        await record.waitFor(underWay);
        underWay = this.#applyAndShare(operations, looked, record);
        underWay.catch(() => {}); // The next wait rejects.
      }
    } finally {
      await record.waitFor(underWay);
    }
  }

  /** Applies operations. Items of failed ones are unknown. */
  async apply(operations: readonly Operation[], record: PassRecord): Promise<void> {
    if (operations.length === 0) return;
    record.count(operations);
    const results = await applyOperations(this.#mode, operations);
    const slice = new TimeSlice();
    for (let i = 0; i < operations.length; i++) {
      const operation = operations[i] as Operation;
      if (slice.spend(1)) await slice.yield();
      this.#tried(operation.key);
      const error = results[i];
      if (error) await this.#fail(operation, error, record);
      else {
        this.#mode.learn(this.known, operation);
        record.accepted++;
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
      this.unknown.set(key, items.get(key));
      record.failures.push(await this.#planner.failureOf(key, error));
    }
    const read = [...items.keys()].filter((key) => !found.failures.has(key));
    for (const key of read) {
      const item = found.items.get(key);
      if (item === undefined) this.known.delete(key);
      else this.known.set(key, item);
      this.unknown.delete(key);
    }
    return read;
  }

  /** Reads known items again. Those that the kernel cannot report alone stay as they are known. */
  readAgain(keys: readonly string[], record: PassRecord): Promise<string[]> {
    return this.readAlone(new Map(keys.map((key) => [key, this.known.get(key)])), NOTHING, record);
  }

  /** Saves memory: known items that equal the desired ones become the same objects, and so do their keys. */
  share(keys: Iterable<string>): void {
    for (const key of keys) {
      const have = this.known.get(key);
      const want = this.#planner.desired.get(key);
      if (have === undefined || want === undefined || want === have || this.unknown.has(key)) continue;
      if (!this.#mode.isSame(want, have)) continue;
      this.known.delete(key); // A map keeps the text of a key that it has.
      this.known.set(key, want);
      this.#replaced++;
    }
  }

  /** Saves memory: after deletions, a map may have room for twice its items. A copy has not. */
  compact(): void {
    if (this.#replaced > this.known.size / 4) this.known = new Map(this.known);
    this.#replaced = 0;
  }

  async #applyAndShare(
    operations: readonly Operation[],
    keys: readonly string[],
    record: PassRecord,
  ): Promise<void> {
    await this.apply(operations, record);
    this.share(keys);
  }

  #compare() {
    return this.#mode.compare(this.#planner.desired, this.known, this.unknown);
  }

  /** Compares the keys that are not unknown. Returns those with a known item. */
  async #look(comparison: { look(key: string): void }, keys: Iterable<string>): Promise<string[]> {
    const known: string[] = [];
    const slice = new TimeSlice();
    for (const key of keys) {
      if (this.unknown.has(key)) continue;
      comparison.look(key);
      if (this.known.has(key)) known.push(key);
      if (slice.spend(1)) await slice.yield();
    }
    return known;
  }

  async #fail(operation: Operation, error: NetlinkError, record: PassRecord): Promise<void> {
    const { key } = operation;
    this.unknown.set(key, this.#mode.subjectOf(operation, this.known));
    record.failures.push(await this.#planner.failureOf(key, error));
  }
}
