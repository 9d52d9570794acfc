// Memory, CPU time and number of processes, from /proc (proc(5)).
import { readFileSync } from 'node:fs';

/** Length of a clock tick of /proc, in ms: USER_HZ is 100 on all architectures of this project. */
const TICK = 10;

/** Resident memory of a process now and at its highest, in bytes. Throws if it has ended. */
export function memoryOf(pid: number): { readonly resident: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return { resident: kilobytes(status, 'VmRSS') * 1024, peak: kilobytes(status, 'VmHWM') * 1024 };
}

function kilobytes(status: string, field: string): number {
  const [, value] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
  if (value === undefined) throw new Error(`/proc/PID/status has no ${field}: the process has ended`);
  return Number(value);
}

/** CPU time of a process and of its children that ended and were waited for, in ms. Throws if it has ended. */
export function cpuTimeOf(pid: number): number {
  return ticksOf(pid).reduce((sum, value) => sum + value, 0) * TICK;
}

/** CPU time of the children of a process that ended and were waited for, in ms. Throws if it has ended. */
export function childrenTimeOf(pid: number): number {
  const [, , user = 0, system = 0] = ticksOf(pid);
  return (user + system) * TICK;
}

/** utime, stime, cutime and cstime: fields 14 to 17. */
function ticksOf(pid: number): number[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field, the name of the command in parentheses, may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).map(Number);
}

/**
 * The newest process or thread id of this process's PID namespace. Ids ascend, so that the difference of two readings is the
 * number of processes and threads that were started between them, unless the ids have started again from the least one.
 */
export function newestProcessId(): number {
  return Number(readFileSync('/proc/loadavg', 'utf8').trim().split(' ').pop());
}
