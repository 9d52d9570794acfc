// The cost of a run: time, CPU time and memory of this process, and CPU time of its children.
import { writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { loadAddon } from '../src/kernel/shared/addon.js';
import type { NativeCost } from './addon.js';
import { childrenTimeOf } from './against/procfs.js';

/** The cost of one run. Times are in ms. */
export interface Cost {
  readonly wall: number;
  /** CPU time of all threads of this process. */
  readonly user: number;
  readonly system: number;
  /** CPU time of the children, to 10 ms. */
  readonly children: number;
  /** Processes that were started. */
  readonly processes: number;
  /** Messages that were sent by netlink, if they were counted. */
  readonly messages?: number;
}

/** Measures from its construction to `stop()`. */
export class Meter {
  readonly #children = childrenTimeOf(process.pid);
  readonly #started = loadAddon().startedPrograms();
  readonly #usage = process.cpuUsage();
  readonly #began = performance.now();

  /** @param others processes that the addon did not start */
  stop(others = 0): Cost {
    const wall = performance.now() - this.#began;
    const { user, system } = process.cpuUsage(this.#usage);
    return {
      wall,
      user: user / 1000,
      system: system / 1000,
      children: childrenTimeOf(process.pid) - this.#children,
      processes: loadAddon().startedPrograms() - this.#started + others,
    };
  }
}

/** The cost that the addon measured. */
export function costOf(native: NativeCost): Cost {
  const milliseconds = (nanoseconds: number) => nanoseconds / 1e6;
  return {
    wall: milliseconds(native.wall),
    user: milliseconds(native.user),
    system: milliseconds(native.system),
    children: milliseconds(native.children),
    processes: native.processes,
    messages: native.messages,
  };
}

/** The cost of runs one after another. Messages are counted if those of every run are. */
export function sumOf(costs: readonly Cost[]): Cost {
  const sum = (read: (cost: Cost) => number) => costs.reduce((total, cost) => total + read(cost), 0);
  return {
    wall: sum(({ wall }) => wall),
    user: sum(({ user }) => user),
    system: sum(({ system }) => system),
    children: sum(({ children }) => children),
    processes: sum(({ processes }) => processes),
    ...(costs.every(({ messages }) => messages !== undefined) && {
      messages: sum(({ messages = 0 }) => messages),
    }),
  };
}

/** The cost of `times` as many operations. */
export function scaled(cost: Cost, times: number): Cost {
  return {
    wall: cost.wall * times,
    user: cost.user * times,
    system: cost.system * times,
    children: cost.children * times,
    processes: Math.round(cost.processes * times),
    ...(cost.messages !== undefined && { messages: Math.round(cost.messages * times) }),
  };
}

/** Forgets the highest resident memory up to now. */
export function resetPeak(): void {
  writeFileSync('/proc/self/clear_refs', '5');
}
