// The program under which tests run others with a seccomp filter, compiled of test/support/sealing/launcher.c.

import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { run } from '../lib/commands.mjs';
import { onlyWhenChanged } from '../lib/whenChanged.mjs';

/** @type {import('../lib/packages.mjs').Requirements} Compile it. */
export const SECCOMP_PACKAGES = { gcc: 'gcc', 'libseccomp-dev': '/usr/include/seccomp.h' };

const SOURCE = 'test/support/sealing/launcher.c';
// The tests use this path.
const LAUNCHER = join(CHECKOUT, '.cache/seccomp/launcher');
const OPTIONS = ['-std=gnu17', '-O1', '-Wall', '-Wextra', '-Werror'];

/** Compiles it, unless it was compiled from the same source. */
export function ensureSeccompLauncher() {
  onlyWhenChanged({ output: LAUNCHER, inputs: [SOURCE], with: OPTIONS.join(' '), force: false }, () =>
    run('gcc', [...OPTIONS, '-o', LAUNCHER, join(CHECKOUT, SOURCE), '-lseccomp']),
  );
}
