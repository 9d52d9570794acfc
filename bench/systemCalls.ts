// Counts system calls with strace, which is attached to this process for the time of one run, and follows its children.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Time until strace is attached, at most, in ms. */
const ATTACH_LIMIT = 10_000;
const LOOK_EVERY = 10;

/** Counts the system calls of runs. */
export class SystemCallCounter {
  /** The result of `work`, and the system calls of this process and of the processes that it starts meanwhile. */
  async count<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly calls: number }> {
    const folder = mkdtempSync(join(tmpdir(), 'system-calls-'));
    const output = join(folder, 'summary');
    const strace = spawn('strace', ['-f', '-c', '-U', 'calls,name', '-o', output, '-p', `${process.pid}`], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    try {
      await attached(strace);
      const result = await work();
      const ended = new Promise((resolve) => strace.once('exit', resolve));
      strace.kill('SIGINT');
      await ended;
      return { result, calls: totalOf(readFileSync(output, 'utf8')) };
    } finally {
      strace.kill();
      rmSync(folder, { recursive: true });
    }
  }
}

async function attached(strace: ChildProcess): Promise<void> {
  let said = '';
  strace.stderr?.on('data', (text) => {
    said += text;
  });
  const failed = new Promise<never>((_, reject) => {
    strace.once('error', reject);
    strace.once('exit', (status) => reject(new Error(`strace ended with status ${status}: ${said.trim()}`)));
  });
  // It is looked at only while it is raced: later, strace ends on request.
  failed.catch(() => {});
  for (let waited = 0; waited < ATTACH_LIMIT; waited += LOOK_EVERY) {
    await Promise.race([delay(LOOK_EVERY), failed]);
    // strace reports when it is attached to all threads.
    if (/attached/.test(said)) return;
  }
  throw new Error(`strace is not attached after ${ATTACH_LIMIT} ms: ${said.trim()}`);
}

/** The number in the line `12345 total`. Throws for a summary without it. */
export function totalOf(summary: string): number {
  const total = /^\s*(\d+)\s+total\s*$/m.exec(summary)?.[1];
  if (total === undefined) throw new Error('the summary of strace has no total');
  return Number(total);
}
