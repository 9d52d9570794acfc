// Processes that use the CPU all the time, so that the machine is overloaded on purpose.
import { spawn } from 'node:child_process';

/** Longest time of a loop whose test does not end it, in s. */
const LONGEST = 1800;

/** Starts loops with the default priority; close() ends them, and throws if one has ended before. */
export function startBusyLoops(count: number): { close(): void } {
  const loops = Array.from({ length: count }, () =>
    spawn('timeout', [`${LONGEST}`, 'sh', '-c', 'while :; do :; done'], { stdio: 'ignore', detached: true }),
  );
  return {
    close() {
      // The group: timeout(1) and its shell.
      for (const { pid } of loops) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    },
  };
}
