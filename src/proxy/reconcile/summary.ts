// The summary of a pass and of its follow-up work.
import type { NetlinkError } from '../../kernel/errors.js';
import type { PhasedOperation } from '../modes/mode.js';
import type { ServicePlanInput } from '../services/types.js';
import { type IsRepair, NO_REPAIR } from './drift.js';

/** A failed operation. Its item is unknown until it has been read again. */
export interface Failure {
  readonly key: string;
  readonly error: NetlinkError;
  /** Services whose plans have the item, `namespace/name`. Absent for items of the node, and for items that no plan has. */
  readonly services?: readonly string[];
  /**
   * The fields of these Services and the endpoints that lead to what the kernel refused, with their values: `Service demo/web:
   * spec.loadBalancerSourceRanges: 10.0.0.0/8`. Absent if they are unknown.
   */
  readonly fields?: readonly string[];
  /** The item is in the node's own plan: without it, possibly no Service works. */
  readonly vital: boolean;
}

/** Work after each pass, in every mode: the clean-up of flows. */
export interface FollowUp {
  /** Records the input of a Service's plan; undefined if the Service was deleted. */
  planned(service: string, input: ServicePlanInput | undefined): void;
  /**
   * Performs the work that is due.
   *
   * @param unfinished Services of which the kernel refused an item: their work is due again after the pass that programs it
   */
  run(
    unfinished: Pick<ReadonlySet<string>, 'has'>,
  ): Promise<{ readonly operations: readonly PhasedOperation[]; readonly failures: readonly Failure[] }>;
  /** Has all work done again in the next pass, as if each Service had changed. */
  again(): void;
  /**
   * The kernel accepted an operation on an item.
   *
   * @param repaired the owners of the item, if the operation repaired a change by another program
   */
  programmed(repaired?: { readonly services: readonly string[]; readonly node: boolean }): void;
  /** Time until the next work is due without a change, in ms; undefined if there is none. */
  readonly dueIn: number | undefined;
}

type Repaired = NonNullable<SyncSummary['repairs']>;

/** Number of repairs whose items are named: the log needs no more. */
const NAMED_REPAIRS = 100;

/** The summary of one pass, or of one whole audit. */
export interface SyncSummary {
  /** All items were read and compared: in a full pass or an audit. */
  readonly full: boolean;
  /** The pass was full only because many failed items were due: it takes the place of no audit. Absent otherwise. */
  readonly retriesMany?: true;
  /** Number of planned Services. */
  readonly services: number;
  /** Number of operations, including failed ones. */
  readonly operations: number;
  /** Number of operations that the kernel accepted for items. */
  readonly accepted: number;
  /**
   * Number of operations that repaired changes by other programs: all of an audit that the kernel accepted; in a full pass after the
   * first, and in a retry, those of them for items that were not as known before and that no changed plan explains.
   */
  readonly repaired: number;
  /** The repairs by phase, and the keys of the items of the first 100. Absent: none. */
  readonly repairs?: { readonly phases: ReadonlyMap<string, number>; readonly keys: readonly string[] };
  /** Number of items that this audit repaired and the one before it repaired too. Absent in passes that are not audits. */
  readonly repeated?: number;
  /** Number of operations by phase, without empty phases. */
  readonly phases: ReadonlyMap<string, number>;
  readonly failures: readonly Failure[];
  /** Number of unknown items: their last operation failed, now or earlier, and they have not been read since. */
  readonly unknown: number;
  /** Why the last operations failed of those unknown items that are in the node's own plan. */
  readonly vitalUnknown: readonly NetlinkError[];
  /** Most Services of most namespaces have unknown items, see docs/health.md. */
  readonly mostRefused: boolean;
  /**
   * Numbers that the mode reports: `draining`, the real servers that are draining; `drainTimeouts`, those removed at the bound of draining
   * with connections, since the start.
   */
  readonly counts: Readonly<Record<string, number>>;
  /** Time until the next pass that is due without a change, in ms; undefined if there is none. */
  readonly again: number | undefined;
  /** Time spent planning and comparing, and waiting for the kernel, in ms. */
  readonly milliseconds: { readonly plan: number; readonly kernel: number };
}

/** Number of the kernel's operations. */
export function countOperations(operations: readonly PhasedOperation[]): number {
  return operations.reduce((count, { size = 1 }) => count + size, 0);
}

const NOTHING: ReadonlySet<never> = new Set();

/** Collects the operations, failures and times of a pass. */
export class PassRecord {
  readonly failures: Failure[] = [];
  /** Number of operations that the kernel accepted for items. */
  accepted = 0;
  /** Whether the operations from now on are repairs. */
  isRepair: IsRepair = NO_REPAIR;
  readonly #repairs = { phases: new Map<string, number>(), keys: [] as string[] };
  /** Number of the kernel's operations that repaired changes by other programs. */
  #repaired = 0;
  readonly #now: () => number;
  readonly #started: number;
  readonly #phases = new Map<string, number>();
  #operations = 0;
  /** Time spent waiting for the kernel, in ms. */
  #waited = 0;
  /** Number of works that are awaited, and the time since which any is. */
  #waiting = 0;
  #since = 0;

  /** @param now monotonic time, in ms */
  constructor(now: () => number) {
    this.#now = now;
    this.#started = now();
  }

  /** Number of the kernel's operations so far. */
  get operations(): number {
    return this.#operations;
  }

  /** Adds operations on items that are about to be made. Returns those that are repairs, if the kernel accepts them. */
  countItems<Operation extends PhasedOperation>(operations: readonly Operation[]): ReadonlySet<Operation> {
    this.count(operations);
    if (this.isRepair === NO_REPAIR) return NOTHING;
    return new Set(operations.filter(({ key }) => this.isRepair(key)));
  }

  /** Adds a repair that the kernel accepted. */
  addRepair({ key, phase, size = 1 }: PhasedOperation): void {
    const { phases, keys } = this.#repairs;
    this.#repaired += size;
    phases.set(phase, (phases.get(phase) ?? 0) + size);
    if (keys.length < NAMED_REPAIRS) keys.push(key);
  }

  /** Adds operations, including those that fail. */
  count(operations: readonly PhasedOperation[]): void {
    // Consecutive operations mostly have the same phase.
    for (let start = 0, end = 0; start < operations.length; start = end) {
      const { phase } = operations[start] as PhasedOperation;
      let size = 0;
      for (; end < operations.length && operations[end]?.phase === phase; end++)
        size += operations[end]?.size ?? 1;
      this.#operations += size;
      this.#phases.set(phase, (this.#phases.get(phase) ?? 0) + size);
    }
  }

  /** Awaits work of the kernel. Time is counted once, however much work is awaited at it. */
  async waitFor<Result>(work: Promise<Result>): Promise<Result> {
    if (this.#waiting++ === 0) this.#since = this.#now();
    try {
      return await work;
    } finally {
      if (--this.#waiting === 0) this.#waited += this.#now() - this.#since;
    }
  }

  /** The results up to now. */
  results(): Pick<
    SyncSummary,
    'operations' | 'accepted' | 'repaired' | 'repairs' | 'phases' | 'failures' | 'milliseconds'
  > {
    const milliseconds = { plan: this.#now() - this.#started - this.#waited, kernel: this.#waited };
    const { accepted, failures } = this;
    const [operations, repaired, phases] = [this.#operations, this.#repaired, this.#phases];
    const repairs = repaired > 0 && { repairs: this.#repairs };
    return { operations, accepted, repaired, ...repairs, phases, failures, milliseconds };
  }
}

/** The summary of two passes as one. */
export function together(first: SyncSummary, second: SyncSummary): SyncSummary {
  const phases = sumsOf(first.phases, second.phases);
  const { repairs: before } = first;
  const repairs = before && second.repairs ? bothRepairs(before, second.repairs) : (before ?? second.repairs);
  return {
    ...second,
    full: first.full,
    services: first.services,
    operations: first.operations + second.operations,
    accepted: first.accepted + second.accepted,
    repaired: first.repaired + second.repaired,
    ...(repairs && { repairs }),
    phases,
    failures: [...first.failures, ...second.failures],
    milliseconds: {
      plan: first.milliseconds.plan + second.milliseconds.plan,
      kernel: first.milliseconds.kernel + second.milliseconds.kernel,
    },
  };
}

function sumsOf(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): Map<string, number> {
  const sums = new Map(a);
  for (const [phase, count] of b) sums.set(phase, (sums.get(phase) ?? 0) + count);
  return sums;
}

function bothRepairs(a: Repaired, b: Repaired): Repaired {
  return { phases: sumsOf(a.phases, b.phases), keys: [...a.keys, ...b.keys].slice(0, NAMED_REPAIRS) };
}

/** Whether the kernel has the whole desired state. */
export function isComplete({ full, failures, unknown }: SyncSummary): boolean {
  return full && failures.length === 0 && unknown === 0;
}
