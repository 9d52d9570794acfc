// The command bench, as a user runs it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { COMMAND } from '../../demo/proxyProcess.js';

/** Time limit of a run, in ms. */
const LIMIT = 300_000;

/** Runs it to its end. */
export function bench(args: readonly string[], options: { env?: NodeJS.ProcessEnv; uid?: number } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, 'bench', ...args], {
    encoding: 'utf8',
    timeout: LIMIT,
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  });
  return { status, stdout, stderr };
}

/** Starts it with its progress as lines on standard error. */
export function startBench(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [COMMAND, 'bench', '--progress', 'lines', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
