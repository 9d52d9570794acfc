// Runs a compiled script of test/oracle in a new network namespace.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './paths.js';
import { tool } from './tools.js';

const run = promisify(execFile);

/** Arguments of the script, and changes of its environment. */
interface Call {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Time limit, in ms; default 5 minutes. */
  readonly limit?: number;
}

/** Returns the JSON that the script prints. Removes the namespace. */
export async function runInNamespace<Report>(
  name: string,
  script: string,
  { args, env = {}, limit = 300_000 }: Call,
): Promise<Report> {
  const namespace = `knp-${name}`;
  tool('ip', 'netns', 'add', namespace);
  try {
    const command = ['netns', 'exec', namespace, process.execPath, join(ROOT, 'dist/test/oracle', script)];
    const options = { maxBuffer: 64 << 20, timeout: limit, env: { ...process.env, ...env } };
    const { stdout } = await run('ip', [...command, ...args], options);
    return JSON.parse(stdout) as Report;
  } finally {
    tool('ip', 'netns', 'del', namespace);
  }
}
