// The times of the calling thread, as its scheduler counts them.
import { readFileSync } from 'node:fs';

/** Times of a thread since its start, in ms: Linux, Documentation/scheduler/sched-stats.rst. */
export interface ThreadTimes {
  /** It ran on a CPU. Unlike the clock, this leaves out other processes; unlike `process.cpuUsage()`, other threads. */
  readonly ran: number;
  /** It was ready to run, and another thread had its CPU. */
  readonly waited: number;
}

/** The times of the calling thread until now. */
export function threadTimes(): ThreadTimes {
  // The kernel adds the current time slice of a thread to `ran` at the ticks of its timer, and for getrusage(2).
  process.cpuUsage();
  const [ran = Number.NaN, waited = Number.NaN] = readFileSync('/proc/thread-self/schedstat', 'utf8')
    .split(' ')
    .map((nanoseconds) => Number(nanoseconds) / 1e6);
  return { ran, waited };
}
