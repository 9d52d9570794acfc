// Memory, CPU time and number of processes, from /proc (proc(5)).
import { readdirSync, readFileSync } from 'node:fs';

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
  const { own, ended } = ticksOf(statOf(pid));
  return (own + ended) * TICK;
}

/** CPU time of the children of a process: of those that ended and were waited for, and of those that run, in ms. */
export function childrenTimeOf(pid: number): number {
  const running = childrenOf(pid).reduce((sum, { stat }) => {
    const { own, ended } = ticksOf(stat);
    return sum + own + ended;
  }, 0);
  return (ticksOf(statOf(pid)).ended + running) * TICK;
}

/** A process that runs, with the fields of its `/proc/PID/stat` after the name. */
interface RunningProcess {
  readonly pid: number;
  readonly stat: readonly string[];
}

/** The children of a process that have not been waited for. */
export function childrenOf(parent: number): RunningProcess[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (Number.isNaN(pid)) return [];
    try {
      const stat = statOf(pid);
      return Number(stat[1]) === parent ? [{ pid, stat }] : [];
    } catch {
      return []; // it ended after the folder was read
    }
  });
}

/** The fields of a process from the third one, its state, on. Throws if it has ended. */
function statOf(pid: number): readonly string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field, the name of the command in parentheses, may contain anything.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** utime and stime, fields 14 and 15, and those of the children that ended and were waited for, fields 16 and 17. */
function ticksOf(stat: readonly string[]): { readonly own: number; readonly ended: number } {
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = stat.slice(11, 15).map(Number);
  return { own: user + system, ended: endedUser + endedSystem };
}

/**
 * The newest process or thread id of this process's PID namespace. Ids ascend, so that the difference of two readings is the
 * number of processes and threads that were started between them, unless the ids have started again from the least one.
 */
export function newestProcessId(): number {
  return Number(readFileSync('/proc/loadavg', 'utf8').trim().split(' ').pop());
}
