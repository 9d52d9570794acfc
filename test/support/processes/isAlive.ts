// Whether a process runs.
import { readFileSync } from 'node:fs';

/** Whether a process runs. One that has ended, and has closed its files, may still wait for the process that reaps it. */
export function isAlive(pid: number | string): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
