// Counts work through hooks, without a clock: equal counts mean equal cost on every machine.

import { restoreInput } from '../../../src/kernel/iptables/index.js';
import type { FakeKernel } from '../../../src/kernel/testing/index.js';
import type { KeyedOperation, Mode } from '../../../src/proxy/modes/mode.js';

/** Numbers of calls and items. */
export interface Counts {
  /** Planned Services and nodes. */
  plans: number;
  /** Compared keys. */
  comparisons: number;
  /** Kernel calls, each with one or a few system calls. */
  calls: number;
  /** Messages in these calls: operations, and listed items. */
  messages: number;
  /** Observed parts of the kernel's state. */
  pieces: number;
  /** Entries that any code of this process sets in maps or adds to sets. */
  entries: number;
  /** Bytes of the input of iptables-restore. */
  bytes: number;
}

const NONE: Counts = { plans: 0, comparisons: 0, calls: 0, messages: 0, pieces: 0, entries: 0, bytes: 0 };

/** Counters that run from their creation until {@link stop}. */
export class Counters {
  readonly #counts: Counts = { ...NONE };
  readonly #restore: (() => void)[] = [];

  constructor() {
    this.#countEntries(Map.prototype, 'set');
    this.#countEntries(Set.prototype, 'add');
  }

  /** The counts since the last call. */
  take(): Counts {
    const counts = { ...this.#counts };
    Object.assign(this.#counts, NONE);
    return counts;
  }

  stop(): void {
    for (const restore of this.#restore) restore();
  }

  /** The same mode, with counts of its plans, comparisons and observed parts. */
  ofMode<Item, Operation extends KeyedOperation<Item>>(mode: Mode<Item, Operation>): Mode<Item, Operation> {
    const counts = this.#counts;
    return {
      ...mode,
      planService(...args) {
        counts.plans++;
        return mode.planService(...args);
      },
      planNode(...args) {
        counts.plans++;
        return mode.planNode(...args);
      },
      compare(...args) {
        const comparison = mode.compare(...args);
        return {
          look(key) {
            counts.comparisons++;
            comparison.look(key);
          },
          additions: () => comparison.additions(),
          removals: () => comparison.removals(),
        };
      },
      async *observe() {
        for await (const piece of mode.observe()) {
          counts.pieces++;
          yield piece;
        }
      },
    };
  }

  /** Counts all further calls of a fake kernel. */
  ofKernel(kernel: FakeKernel): void {
    for (const part of [
      kernel.ipvs,
      kernel.ipset,
      kernel.rtnetlink,
      kernel.conntrack,
      kernel.iptables,
      kernel.sysctl,
    ]) {
      for (const name of CALLS) this.#countCall(part as unknown as Record<string, unknown>, name);
    }
    const { iptables } = kernel;
    const restore = iptables.restore.bind(iptables);
    iptables.restore = (family, operations) => {
      this.#counts.bytes += restoreInput(operations).length;
      return restore(family, operations);
    };
  }

  #countCall(part: Record<string, unknown>, name: string): void {
    const call = part[name];
    if (typeof call !== 'function') return;
    const counted = async (result: unknown) => {
      const found = await result;
      this.#counts.messages += sizeOf(found);
      return found;
    };
    part[name] = (...args: unknown[]) => {
      this.#counts.calls++;
      const result: unknown = call.apply(part, args);
      return isListing(result) ? { toArray: () => counted(result.toArray()) } : counted(result);
    };
  }

  #countEntries<Name extends string>(prototype: object, name: Name): void {
    const methods = prototype as Record<Name, (...args: unknown[]) => unknown>;
    const method = methods[name];
    const counts = this.#counts;
    methods[name] = function (...args) {
      counts.entries++;
      return method.apply(this, args);
    };
    this.#restore.push(() => {
      methods[name] = method;
    });
  }
}

/** All kernel methods that the modes use. */
const CALLS = [
  'list',
  'listServices',
  'listRealServers',
  'get',
  'apply',
  'timeouts',
  'setTimeouts',
  'getLink',
  'listAddresses',
  'deleteFlows',
  'save',
  'restore',
  'read',
  'write',
];

/** Whether it is a listing that is not read by awaiting it. */
const isListing = (result: unknown): result is { toArray(): Promise<unknown[]> } =>
  typeof result === 'object' && result !== null && 'toArray' in result && !('then' in result);

/** Number of results of a batch or items of a listing; otherwise 1. */
function sizeOf(result: unknown): number {
  if (Array.isArray(result)) return result.flat().length;
  const { entries, realServers } = (result ?? {}) as { entries?: unknown[]; realServers?: unknown[] };
  return 1 + (entries?.length ?? 0) + (realServers?.length ?? 0);
}
