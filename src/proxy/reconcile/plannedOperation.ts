// An operation of a pass that is shown and not applied.
import type { KeyedOperation, Known, Mode } from '../modes/mode.js';
import type { Planner } from './planner.js';

/** An operation that a full pass would carry out. */
export interface PlannedOperation {
  /** Its phase in the mode's order. */
  readonly phase: string;
  readonly key: string;
  /** The item is in the node's own plan. */
  readonly node: boolean;
  /**
   * Services whose plans have the item; the first wins. If `node` is false and there is none, the item is not desired.
   */
  readonly services: readonly string[];
  /** The state of the item in the kernel: `unwanted` if no plan has it. */
  readonly state: 'missing' | 'different' | 'unwanted';
  /**
   * The name of the mode that ran on this node before and left the item, which is removed after the pass. Absent for
   * items of the running mode.
   */
  readonly formerMode?: string;
  /** The operation as a readable diff. */
  readonly lines: readonly string[];
}

/** An item, apart from the operations that change it. */
export type PlannedItem = Pick<PlannedOperation, 'node' | 'services' | 'state' | 'formerMode'>;

/** Describes an operation of a mode: one planned operation for each of the kernel's operations that it makes. */
export function describePlanned<Item, Operation extends KeyedOperation<Item>>(
  mode: Pick<Mode<Item, Operation>, 'describe'>,
  operation: Operation,
  known: Known<Item>,
  item: PlannedItem,
): PlannedOperation[] {
  const { phase, key } = operation;
  return mode.describe(operation, known).map((lines) => ({ phase, key, ...item, lines }));
}

/** Describes the operations of a full pass. */
export function describeItems<Item, Operation extends KeyedOperation<Item>>(
  mode: Pick<Mode<Item, Operation>, 'describe'>,
  operations: readonly Operation[],
  known: Known<Item>,
  planner: Pick<Planner<Item, Operation>, 'desired' | 'ownersOf'>,
): PlannedOperation[] {
  return operations.flatMap((operation) => {
    const { key } = operation;
    const existing = known.has(key) ? 'different' : 'missing';
    const state = planner.desired.get(key) === undefined ? 'unwanted' : existing;
    return describePlanned(mode, operation, known, { ...planner.ownersOf(key), state });
  });
}
