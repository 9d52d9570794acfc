// The kernel of User Mode Linux, Debian's package, unpacked into the cache.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../lib/commands.mjs';
import { Failure } from '../lib/failure.mjs';
import { ensureUnpacked, librariesIn } from '../lib/suites.mjs';

// The first kernel that can control its processes by seccomp: the tests take less than half of their time then.
const SECCOMP_SINCE = [6, 16];

/** The name of a link to the libraries of the kernel, in the folder in which it starts. */
export const LIBRARIES = 'libraries';

/**
 * The kernel, from the cache or from Debian.
 *
 * @param {string} cache
 * @param {import('./kernelNames.mjs').KernelName} suite
 * @returns {import('./kernel.mjs').Kernel}
 */
export function ensureUmlKernel(cache, suite) {
  const root = join(cache, `uml-${suite}`);
  ensureUnpacked({ name: 'user-mode-linux', suite, size: '40 MB', root }, useOwnLibraries);
  return {
    ...umlKernelIn(root, join(root, 'usr/lib/uml/modules')),
    libraries: join(root, librariesIn(root).folder),
  };
}

/**
 * @param {string} root with the image
 * @param {string} modules the folder with the modules of one kernel
 * @returns {import('./kernel.mjs').Kernel}
 */
export function umlKernelIn(root, modules) {
  const [release, ...others] = readdirSync(modules);
  if (release === undefined || others.length > 0)
    throw new Failure(`${modules} must have the modules of one kernel`);
  const options = isSince(release, SECCOMP_SINCE) ? ['seccomp=on'] : [];
  return { release, image: join(root, IMAGE), modules, options };
}

/**
 * @param {string} release
 * @param {readonly number[]} first major and minor version
 */
function isSince(release, [firstMajor = 0, firstMinor = 0]) {
  const [major = 0, minor = 0] = release.split('.').map((part) => Number.parseInt(part, 10));
  return major > firstMajor || (major === firstMajor && minor >= firstMinor);
}

/** The image, in the folder of a kernel of User Mode Linux. */
export const IMAGE = 'usr/bin/linux.uml';

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
    join(root, IMAGE),
  ]);
}
