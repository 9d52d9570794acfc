// Runs promtool: the one that `npm test` unpacked, or the installed one.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../paths.js';

/** Runs promtool to its end; rejects if it cannot be run. */
export function promtool(
  args: readonly string[],
  input = '',
): Promise<{ status: number; stdout: string; stderr: string }> {
  const unpacked = join(ROOT, '.cache/promtool');
  const command = existsSync(unpacked) ? unpacked : 'promtool';
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, (error, stdout, stderr) => {
      const status = error === null ? 0 : error.code;
      if (typeof status === 'number') resolve({ status, stdout, stderr });
      else reject(new Error(`promtool: ${error?.message}`));
    });
    child.stdin?.end(input);
  });
}
