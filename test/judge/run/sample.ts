// What a process has of the machine.
import { readdirSync, readFileSync } from 'node:fs';
import type { ProxySample } from '../core/growth.js';

/**
 * The resident memory and the descriptors of a process.
 *
 * @param pid undefined if it does not run
 * @param at the time, in ms
 */
export function sampleOf(pid: number | undefined, at: number): ProxySample | undefined {
  if (pid === undefined) return undefined;
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { pid, at, resident: Number(resident), descriptors: readdirSync(`/proc/${pid}/fd`).length };
}
