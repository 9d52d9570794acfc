// A fake kernel with a map from `address:port/protocol` to endpoints. Its batches are transactions, as in nf_tables.
import { NetlinkError } from '../../../src/kernel/errors.js';
import type { Fault } from '../../../src/kernel/testing/index.js';
import { fakeHostKernel } from '../fakes/hostKernel.js';

/** A change of the map, or of its table. */
export type MapOperation =
  | { readonly do: 'createTable' | 'deleteTable' }
  | { readonly do: 'set'; readonly name: string; readonly endpoints: readonly string[] }
  | { readonly do: 'delete'; readonly name: string };

type Results = (NetlinkError | undefined)[];

/** The error of an operation that was rolled back because another one of its transaction failed. */
export const UNDONE = 'ECANCELED';

/** The map, with the parts of the kernel that every mode needs. */
export class MapKernel {
  readonly host = fakeHostKernel();
  /** Undefined while there is no table. */
  table: Map<string, readonly string[]> | undefined;
  /** Number of operations of each attempted transaction. */
  readonly transactions: number[] = [];
  /** Decides which operations fail. */
  fault: Fault = () => undefined;
  readonly #listeners = new Set<() => void>();

  /** Applies all operations or none. In a failed transaction, one has its error, and all others have {@link UNDONE}. */
  async apply(operations: readonly MapOperation[]): Promise<Results> {
    this.transactions.push(operations.length);
    let table = this.table && new Map(this.table);
    for (const [i, operation] of operations.entries()) {
      const target = 'name' in operation ? operation.name : 'table';
      const missing = operation.do !== 'createTable' && table === undefined ? 'ENOENT' : undefined;
      const error =
        this.fault(operation.do, target) ??
        (missing && new NetlinkError({ code: missing, operation: operation.do, target }));
      if (error) return operations.map((_, n) => (n === i ? error : undone(operation.do, target)));
      table = changed(table, operation);
    }
    this.table = table;
    return operations.map(() => undefined);
  }

  /** Registers a callback for changes by {@link tamper}. */
  watch(changed: () => void): { close(): void } {
    this.#listeners.add(changed);
    return { close: () => void this.#listeners.delete(changed) };
  }

  /** A change by another program, with or without a notification. */
  tamper(change: (table: Map<string, readonly string[]>) => void, notified: boolean): void {
    if (this.table) change(this.table);
    if (notified) for (const changed of this.#listeners) changed();
  }
}

function changed(
  table: Map<string, readonly string[]> | undefined,
  operation: MapOperation,
): Map<string, readonly string[]> | undefined {
  switch (operation.do) {
    case 'createTable':
      return table ?? new Map();
    case 'deleteTable':
      return undefined;
    case 'set':
      return table?.set(operation.name, operation.endpoints);
    case 'delete':
      table?.delete(operation.name);
      return table;
  }
}

function undone(operation: string, culprit: string): NetlinkError {
  return new NetlinkError({ code: UNDONE, operation, hint: `${culprit} failed` });
}
