// Selects the CPU of a machine that runs on only one.

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

/** In ms. Long enough to ignore short idle times of a busy CPU. */
const LOOK = 200;

/**
 * The CPU for one more machine: of those of this process, those with the fewest machines, and of these the one that was idle longest during
 * a short measurement. A machine that waits at that moment needs its CPU later.
 *
 * @param {string} program name of the machines' program, at most 15 bytes
 */
export async function processorFor(program) {
  const before = idleTimes();
  await wait(LOOK);
  const after = idleTimes();
  const idle = (/** @type {number} */ n) => (after.get(n) ?? 0) - (before.get(n) ?? 0);
  const machines = machinesOn(program);
  const count = (/** @type {number} */ n) => machines.get(n) ?? 0;
  const [first = 0, ...others] = processorsIn(readFileSync('/proc/self/status', 'utf8'));
  return others.reduce((best, n) => {
    if (count(n) !== count(best)) return count(n) < count(best) ? n : best;
    return idle(n) > idle(best) ? n : best;
  }, first);
}

/**
 * The machines that may run on one CPU only, by CPU: processes of the program that no process of it has started.
 *
 * @param {string} program
 * @returns {Map<number, number>}
 */
function machinesOn(program) {
  const found = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const status = statusOf(name);
    if (!status.startsWith(`Name:\t${program}\n`)) continue;
    found.set(name, { parent: /^PPid:\t(\d+)$/m.exec(status)?.[1], processors: processorsIn(status) });
  }
  const counts = new Map();
  for (const { parent, processors } of found.values()) {
    const [only, ...others] = processors;
    if (found.has(parent) || others.length > 0) continue;
    counts.set(only, (counts.get(only) ?? 0) + 1);
  }
  return counts;
}

/** @param {string} id of a process, which may have ended */
function statusOf(id) {
  try {
    return readFileSync(`/proc/${id}/status`, 'utf8');
  } catch {
    return '';
  }
}

/**
 * @param {string} status text of /proc/PID/status, with a list as `0-3,8` (proc(5))
 * @returns {number[]}
 */
function processorsIn(status) {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? '0';
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

/** @returns {Map<number, number>} processor → ticks that it was idle, waiting for disks included (proc(5): stat) */
function idleTimes() {
  const lines = readFileSync('/proc/stat', 'utf8').matchAll(/^cpu(\d+) (.*)$/gm);
  return new Map(
    [...lines].map(([, n, ticks = '']) => {
      const [, , , idle = 0, ioWait = 0] = ticks.split(' ').map(Number);
      return [Number(n), idle + ioWait];
    }),
  );
}
