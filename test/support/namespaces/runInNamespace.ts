// Runs a compiled script of test/oracle in a new network namespace.
import { type ChildProcess, execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../paths.js';
import { reporting, whatHangs } from '../processes/whatHangs.js';
import { tool } from './tools.js';

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
  const folder = mkdtempSync(join(tmpdir(), 'knp-reports-'));
  tool('ip', 'netns', 'add', namespace);
  try {
    const node = [process.execPath, ...reporting(folder), join(ROOT, 'dist/test/oracle', script)];
    return JSON.parse(await outputOf(['netns', 'exec', namespace, ...node, ...args], env)) as Report;
  } finally {
    tool('ip', 'netns', 'del', namespace);
    rmSync(folder, { recursive: true });
  }

  /** The output of a program of `ip`, which becomes that program. */
  function outputOf(command: readonly string[], changes: Readonly<Record<string, string>>): Promise<string> {
    return new Promise((resolve, reject) => {
      let reason: Error | undefined;
      const options = { maxBuffer: 64 << 20, env: { ...process.env, ...changes } };
      const child = execFile('ip', command, options, (error, stdout) => {
        clearTimeout(timer);
        if (error) reject(reason ?? error);
        else resolve(stdout);
      });
      const timer = setTimeout(async () => {
        reason = await timeout(child);
        child.kill('SIGKILL');
      }, limit);
    });
  }

  async function timeout({ pid = 0 }: ChildProcess): Promise<Error> {
    const found = await whatHangs(pid, folder).catch(String);
    return new Error(`${script} has not ended within ${limit} ms:\n${found}`);
  }
}
