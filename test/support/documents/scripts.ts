// The scripts that make documents from the exported declarations, as checks.
import { spawnSync } from 'node:child_process';
import { ROOT } from '../paths.js';

/** The output of a script that found errors; empty if it found none. */
export function errorsOfScript(script: string): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--check'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return status === 0 ? '' : stdout + stderr;
}
