// Selects the CPU of a machine that runs on only one.

import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

/** In ms. Long enough to ignore short idle times of a busy CPU. */
const LOOK = 200;

/** @returns {Promise<number>} of the CPUs of this process, the one that was idle longest during a short measurement */
export async function idlestProcessor() {
  const before = idleTimes();
  await wait(LOOK);
  const after = idleTimes();
  const idle = (/** @type {number} */ n) => (after.get(n) ?? 0) - (before.get(n) ?? 0);
  const [first = 0, ...others] = allowedProcessors();
  return others.reduce((best, n) => (idle(n) > idle(best) ? n : best), first);
}

/** @returns {number[]} proc(5): `0-3,8` in /proc/self/status */
function allowedProcessors() {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
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
