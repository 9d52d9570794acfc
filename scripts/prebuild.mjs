// `npm run prebuild`: builds the binaries that the package is published with.

import { readFileSync } from 'node:fs';
import { main } from './prebuild/cli.mjs';

// npm also starts a script of this name before each `npm run build`, which needs no such binary. npm tells its scripts nothing
// about that, but its own title is the command that the user typed.
process.exitCode = isStartedBy(/^npm (run|run-script|rum|urn) build\b/) ? 0 : await main(process.argv.slice(2));

/**
 * Whether the parent of this process, or the parent's parent if that is a shell, has this title.
 *
 * @param {RegExp} title
 */
function isStartedBy(title) {
  try {
    const parents = [process.ppid, parentOf(process.ppid)];
    return parents.some((pid) => title.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')));
  } catch {
    return false; // not on Linux, or without /proc: the build only takes longer
  }
}

/** @param {number} pid */
function parentOf(pid) {
  return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
