// The cost of a run: time, CPU time and memory of this process, and CPU time of its children.
import { readFileSync, writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { NativeCost } from '../kernel/addon.js';

/** The cost of one run. Times are in ms. */
export interface Cost {
  readonly wall: number;
  /** CPU time of all threads of this process. */
  readonly user: number;
  readonly system: number;
  /** CPU time of the children that ended, to 10 ms. */
  readonly children: number;
  readonly processes: number;
  /** Messages that were sent by netlink, if they were counted. */
  readonly messages?: number;
}

/** Ticks in `/proc/PID/stat` are of 10 ms on every architecture that is supported (USER_HZ). */
const TICK = 10;

/** Measures from its construction to `stop()`. */
export class Meter {
  readonly #children = childrenTime();
  readonly #usage = process.cpuUsage();
  readonly #began = performance.now();

  stop(processes = 0): Cost {
    const wall = performance.now() - this.#began;
    const { user, system } = process.cpuUsage(this.#usage);
    return {
      wall,
      user: user / 1000,
      system: system / 1000,
      children: childrenTime() - this.#children,
      processes,
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

/** CPU time of the children that ended, in ms: the 16th and 17th field of proc(5), behind a name that may have spaces. */
function childrenTime(): number {
  const text = readFileSync('/proc/self/stat', 'latin1');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * TICK;
}

/** Resident memory of this process, now and at its highest since {@link resetPeak}, in bytes. */
export function residentMemory(): { readonly now: number; readonly peak: number } {
  const text = readFileSync('/proc/self/status', 'latin1');
  const field = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1] ?? 0) * 1024;
  return { now: field('VmRSS'), peak: field('VmHWM') };
}

/** Forgets the highest resident memory up to now. */
export function resetPeak(): void {
  writeFileSync('/proc/self/clear_refs', '5');
}
