// The summary of a pass, and of work that follows it.
import type { NetlinkError } from '../errors.js';
import type { KeyedOperation } from '../modes/mode.js';
import type { ServicePlanInput } from '../services/types.js';

/** An operation that failed. Its item is unknown until it is observed again. */
export interface Failure {
  readonly key: string;
  readonly error: NetlinkError;
  /** It is something that the node wants whatever its Services are: without it none of them may work. */
  readonly vital: boolean;
}

/** Work that follows each pass, whatever the mode: the clean-up of UDP flows. */
export interface FollowUp {
  /** Records the input of a Service's plan; undefined when the Service was deleted. */
  planned(service: string, input: ServicePlanInput | undefined): void;
  /** Does the work that is due. */
  run(): Promise<{ readonly operations: readonly KeyedOperation[]; readonly failures: readonly Failure[] }>;
  /** Time after which more is due although nothing changes, in ms; undefined when nothing is. */
  readonly dueIn: number | undefined;
}

/** The summary of one pass, or of one whole audit. */
export interface SyncSummary {
  /** The kernel was read and everything compared: at start, after many failures, in audits. */
  readonly full: boolean;
  /** Services planned. */
  readonly services: number;
  /** Operations carried out, failed ones too. */
  readonly operations: number;
  /** How many of them repaired items that others had changed, as an audit found. */
  readonly repaired: number;
  /** How many of them in each phase of the mode's order; phases without any are left out. */
  readonly phases: ReadonlyMap<string, number>;
  readonly failures: readonly Failure[];
  /** Items whose last operation failed, now or earlier, and that were not read again. */
  readonly unknown: number;
  /** Numbers that the mode reports: `draining`, the real servers that are draining. */
  readonly counts: Readonly<Record<string, number>>;
  /** Time after which another pass has something to do although nothing changes, in ms; undefined when none has. */
  readonly again: number | undefined;
  /** Time spent planning and comparing, and waiting for the kernel, in ms. */
  readonly milliseconds: { readonly plan: number; readonly kernel: number };
}

/** Operations by phase. */
export function countPhases(operations: readonly KeyedOperation[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { phase } of operations) counts.set(phase, (counts.get(phase) ?? 0) + 1);
  return counts;
}

/** Two passes reported as one. */
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
