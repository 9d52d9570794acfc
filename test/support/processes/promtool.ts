// Runs promtool: the installed one, or the one that `npm test` unpacked.
import { execFile, spawnSync } from 'node:child_process';
import { prepared } from '../paths.js';

const command = spawnSync('promtool', ['--version']).status === 0 ? 'promtool' : prepared('promtool');

/** Runs promtool to its end; rejects if it cannot be run. */
export function promtool(
  args: readonly string[],
  input = '',
): Promise<{ status: number; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, (error, stdout, stderr) => {
      const status = error === null ? 0 : error.code;
      if (typeof status === 'number') resolve({ status, stdout, stderr });
      else reject(new Error(`promtool: ${error?.message}`));
    });
    child.stdin?.end(input);
  });
}
