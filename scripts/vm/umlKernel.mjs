// The kernel of User Mode Linux, Debian's package, unpacked into the cache.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../lib/commands.mjs';
import { Failure } from '../lib/failure.mjs';
import { ensureUnpacked, librariesIn } from '../lib/suites.mjs';

// Linux 6.12: the tests take two thirds of their time on Debian 12's 6.1. Later suites have no legacy tables of iptables.
const SUITE = 'trixie';

/** The name of a link to the libraries of the kernel, in the folder in which it starts. */
export const LIBRARIES = 'libraries';

/**
 * The kernel, from the cache or from Debian.
 *
 * @param {string} cache
 * @returns {import('./kernel.mjs').Kernel}
 */
export function ensureUmlKernel(cache) {
  const root = join(cache, `uml-${SUITE}`);
  ensureUnpacked({ name: 'user-mode-linux', suite: SUITE, size: '40 MB', root }, useOwnLibraries);
  const modules = join(root, 'usr/lib/uml/modules');
  const [release, ...others] = readdirSync(modules);
  if (release === undefined || others.length > 0)
    throw new Failure(`${modules} must have the modules of one kernel`);
  return { release, image: imageIn(root), modules, libraries: join(root, librariesIn(root).folder) };
}

/** @param {string} root */
const imageIn = (root) => join(root, 'usr/bin/linux.uml');

/**
 * Lets the kernel find its own libraries, whatever this machine has. The paths are relative: a checkout may be moved.
 *
 * @param {string} root
 */
function useOwnLibraries(root) {
  const { loader } = librariesIn(root);
  run('patchelf', [
    ...['--set-interpreter', join(LIBRARIES, loader)],
    ...['--set-rpath', LIBRARIES],
    imageIn(root),
  ]);
}
