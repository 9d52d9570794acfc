// The times of the calling thread, as its scheduler counts them.
import { readFileSync } from 'node:fs';
import { pageFaults, surplusOfFault } from './pageFaults.js';

/** Times of a thread since its start, in ms: Linux, Documentation/scheduler/sched-stats.rst. */
export interface ThreadTimes {
  /**
   * It ran on a CPU. Unlike the clock, this leaves out other processes; unlike `process.cpuUsage()`, other threads. Page faults count as
   * on a common machine.
   */
  readonly ran: number;
  /** It was ready to run, and another thread had its CPU. */
  readonly waited: number;
}

let surplus: number | undefined;

/** The times of the calling thread until now. */
export function threadTimes(): ThreadTimes {
  surplus ??= surplusOfFault(() => scheduled().ran);
  const { ran, waited } = scheduled();
  return { ran: surplus === 0 ? ran : ran - pageFaults() * surplus, waited };
}

function scheduled(): ThreadTimes {
  // The kernel adds the current time slice of a thread to `ran` at the ticks of its timer, and for getrusage(2).
  process.cpuUsage();
  const [ran = Number.NaN, waited = Number.NaN] = readFileSync('/proc/thread-self/schedstat', 'utf8')
    .split(' ')
    .map((nanoseconds) => Number(nanoseconds) / 1e6);
  return { ran, waited };
}
