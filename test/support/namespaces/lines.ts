// Node.js processes of a test, and the lines that they print.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { TestContext } from 'node:test';

/** A process, and what it prints. */
export interface PrintingProcess {
  readonly child: ChildProcessByStdio<null, Readable, null>;
  readonly lines: AsyncIterator<string>;
}

/** Starts Node.js with these arguments; it is killed after the test. */
export function startNode(t: TestContext, ...args: readonly string[]): PrintingProcess {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
}

/** Starts a module with this text. */
export function startScript(t: TestContext, script: string): PrintingProcess {
  return startNode(t, '--input-type=module', '-e', script);
}
