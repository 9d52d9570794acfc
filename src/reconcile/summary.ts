// The summary of a pass and of its follow-up work.
import type { NetlinkError } from '../errors.js';
import type { KeyedOperation } from '../modes/mode.js';
import type { ServicePlanInput } from '../services/types.js';

/** A failed operation. Its item is unknown until it has been read again. */
export interface Failure {
  readonly key: string;
  readonly error: NetlinkError;
  /** The item is in the node's own plan: without it, possibly no Service works. */
  readonly vital: boolean;
}

/** Work after each pass, in every mode: the clean-up of UDP flows. */
export interface FollowUp {
  /** Records the input of a Service's plan; undefined if the Service was deleted. */
  planned(service: string, input: ServicePlanInput | undefined): void;
  /** Performs the work that is due. */
  run(): Promise<{ readonly operations: readonly KeyedOperation[]; readonly failures: readonly Failure[] }>;
  /** Time until the next work is due without a change, in ms; undefined if there is none. */
  readonly dueIn: number | undefined;
}

/** The summary of one pass, or of one whole audit. */
export interface SyncSummary {
  /** All items were read and compared: in a full pass or an audit. */
  readonly full: boolean;
  /** Number of planned Services. */
  readonly services: number;
  /** Number of operations, including failed ones. */
  readonly operations: number;
  /** Number of operations that repaired changes by other programs, in an audit. */
  readonly repaired: number;
  /** Number of operations by phase, without empty phases. */
  readonly phases: ReadonlyMap<string, number>;
  readonly failures: readonly Failure[];
  /** Number of unknown items: their last operation failed, now or earlier, and they have not been read since. */
  readonly unknown: number;
  /** Numbers that the mode reports: `draining`, the real servers that are draining. */
  readonly counts: Readonly<Record<string, number>>;
  /** Time until the next pass that is due without a change, in ms; undefined if there is none. */
  readonly again: number | undefined;
  /** Time spent planning and comparing, and waiting for the kernel, in ms. */
  readonly milliseconds: { readonly plan: number; readonly kernel: number };
}

/** Number of the kernel's operations. */
export function countOperations(operations: readonly KeyedOperation[]): number {
  return operations.reduce((count, { size = 1 }) => count + size, 0);
}

/** Number of the kernel's operations by phase. */
export function countPhases(operations: readonly KeyedOperation[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { phase, size = 1 } of operations) counts.set(phase, (counts.get(phase) ?? 0) + size);
  return counts;
}

/** The summary of two passes as one. */
export function together(first: SyncSummary, second: SyncSummary): SyncSummary {
  const phases = new Map(first.phases);
  for (const [phase, count] of second.phases) phases.set(phase, (phases.get(phase) ?? 0) + count);
  return {
    ...second,
    full: first.full,
    services: first.services,
    operations: first.operations + second.operations,
    repaired: first.repaired + second.repaired,
    phases,
    failures: [...first.failures, ...second.failures],
    milliseconds: {
      plan: first.milliseconds.plan + second.milliseconds.plan,
      kernel: first.milliseconds.kernel + second.milliseconds.kernel,
    },
  };
}
