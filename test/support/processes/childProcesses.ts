// The child processes of another process, from /proc.
import { readdirSync, readFileSync } from 'node:fs';

/** A process. */
export interface ChildProcess {
  readonly pid: number;
  /** The name of its program, at most 15 characters. */
  readonly name: string;
}

/** The running children of a process. */
export function childrenOf(parent: number): ChildProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const [, program = '', state, parentOf] = /^\d+ \((.*)\) (\S) (\d+) /s.exec(statOf(name)) ?? [];
      const isChild = Number(parentOf) === parent && state !== 'Z';
      return isChild ? [{ pid: Number(name), name: program }] : [];
    });
}

/** proc_pid_stat(5); empty if the process has ended meanwhile. */
function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}
