// The benchmark, as a user runs it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../paths.js';

/** The program that `npm run bench` starts. */
export const PROGRAM = join(ROOT, 'dist/bench/main.js');

/** Time limit of a run, in ms. */
const LIMIT = 300_000;

/** Runs it to its end, by the program `launcher` if there is one. */
export function bench(
  args: readonly string[],
  { env = process.env, launcher = [] }: { env?: NodeJS.ProcessEnv; launcher?: readonly string[] } = {},
) {
  const [program, ...rest] = [...launcher, process.execPath, PROGRAM, ...args];
  const { status, stdout, stderr } = spawnSync(program ?? '', rest, {
    encoding: 'utf8',
    timeout: LIMIT,
    maxBuffer: 64 * 1024 * 1024,
    env,
  });
  return { status, stdout, stderr };
}

/** Starts it with its progress as lines on standard error. */
export function startBench(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [PROGRAM, '--progress', 'lines', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
