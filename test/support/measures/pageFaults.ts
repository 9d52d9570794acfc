// What page faults cost on this machine. A virtual machine whose hypervisor has no page tables in hardware takes 15 to 20 µs for each page
// that a program touches for the first time, a common machine less than 1 µs: a test of our code must not measure that.
import { readFileSync } from 'node:fs';

/** Time of a page fault that is part of a measurement, in ms: that of a common machine. */
const COMMON = 0.001;
const PAGE = 4096;
/** Pages that are touched to measure. */
const PAGES = 1024;

/** Number of page faults of the calling thread since its start: `minflt` of proc_pid_stat(5). */
export function pageFaults(): number {
  const stat = readFileSync('/proc/thread-self/stat', 'utf8');
  // The name of the program may have spaces and parentheses.
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[7]);
}

/** The time that a page fault takes on this machine beyond {@link COMMON}, in ms. */
export function surplusOfFault(clock: () => number): number {
  const memory = new Uint8Array(PAGES * PAGE);
  const [start, before] = [clock(), pageFaults()];
  for (let at = 0; at < memory.length; at += PAGE) memory[at] = 1;
  const faults = pageFaults() - before;
  return faults < PAGES / 2 ? 0 : Math.max(0, (clock() - start) / faults - COMMON);
}
