// Debian's kernel package, downloaded and unpacked (never installed) into the cache, with its module index.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { capture, run } from '../lib/commands.mjs';
import { Failure } from '../lib/failure.mjs';
import { downloadPackage, withFreshLists } from '../lib/packages.mjs';
import { ensureUnpacked } from '../lib/suites.mjs';
import { unpackImage } from './image.mjs';
import { SUITE_OF } from './kernelNames.mjs';

// Depends on the newest kernel of the release. The "-cloud" flavour has no 9p.
const META_PACKAGE = 'linux-image-amd64';
// The kernel, its modules, or the packages into which later suites split them.
const KERNEL_PACKAGES = /^linux-(image|base|binary|modules)-\d/;
const WORK_PREFIX = '.unpacking-';
// No download takes this long.
const LEFTOVER_MS = 3600_000;

/**
 * @typedef {object} Kernel
 * @property {string} release output of `uname -r`
 * @property {string} image the bootable file
 * @property {string} modules a folder to appear as /lib/modules
 * @property {string} [libraries] the folder of the libraries that the image needs
 * @property {string} [preload] a library whose functions it uses in place of the C library's
 * @property {readonly string[]} [options] more of its command line
 */

/**
 * The kernel to boot, from the cache or from the package sources.
 *
 * @param {string} cache
 * @param {string | undefined} prefix of the release; undefined for the distribution's default kernel
 * @returns {Kernel}
 */
export function ensureKernel(cache, prefix) {
  // Separate, so that a selected kernel does not become the default.
  const kernels = join(cache, prefix === undefined ? 'default-kernel' : 'chosen-kernels');
  mkdirSync(kernels, { recursive: true });
  const cached = newest(readdirSync(kernels), prefix);
  const release = cached ?? findRelease(prefix);
  const root = join(kernels, release);
  if (cached === undefined) unpack(root, release);
  return kernelIn(root, release);
}

/**
 * The kernel of a suite of Debian, whatever this machine's package sources are.
 *
 * @param {string} cache
 * @param {import('./kernelNames.mjs').KernelName} name
 * @returns {Kernel}
 */
export function ensureSuiteKernel(cache, name) {
  const root = join(cache, `qemu-${name}`);
  const wanted = { name: META_PACKAGE, suite: SUITE_OF[name], size: '130 MB', only: KERNEL_PACKAGES };
  ensureUnpacked({ ...wanted, root }, (unpacked) => complete(unpacked, releaseIn(unpacked)));
  return kernelIn(root, releaseIn(root));
}

/**
 * @param {string} root
 * @param {string} release
 * @returns {Kernel}
 */
function kernelIn(root, release) {
  const image = join(root, 'vmlinux');
  const modules = join(root, 'lib/modules');
  return { release, image: existsSync(image) ? image : packedIn(root, release), modules };
}

/**
 * @param {string} root
 * @param {string} release
 * @returns {string} the kernel as it is packaged: in /boot, or in later suites beside its modules
 */
function packedIn(root, release) {
  const path = join(root, 'boot', `vmlinuz-${release}`);
  return existsSync(path) ? path : join(root, 'lib/modules', release, 'vmlinuz');
}

/**
 * @param {string} root of an unpacked package
 * @returns {string} the release of its kernel
 */
function releaseIn(root) {
  const [release, ...others] = readdirSync(join(root, 'lib/modules'));
  if (release === undefined || others.length > 0) throw new Failure(`${root} must have one kernel`);
  return release;
}

/**
 * Adds what the installation of the package would create, and the kernel in the form that boots quickly.
 *
 * @param {string} root of an unpacked package
 * @param {string} release
 */
function complete(root, release) {
  run('depmod', ['-b', root, release]);
  unpackImage(packedIn(root, release), join(root, 'vmlinux'));
}

/**
 * @param {readonly string[]} releases
 * @param {string | undefined} prefix
 * @returns {string | undefined}
 */
function newest(releases, prefix = '') {
  return releases
    .filter(
      (release) => /^\d+\.\d+\.\d+[\w.+~-]*-amd64$/.test(release) && !/-(cloud|rt)-amd64$/.test(release),
    )
    .filter((release) => release.startsWith(prefix) && !/^\d/.test(prefix && release.slice(prefix.length)))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .at(-1);
}

/**
 * @param {string | undefined} prefix
 * @returns {string}
 */
function findRelease(prefix) {
  /** @type {string | undefined} */
  let release;
  withFreshLists([META_PACKAGE], () => {
    release = prefix === undefined ? defaultRelease() : newest(packagedReleases(), prefix);
    return release !== undefined;
  });
  if (release === undefined)
    throw new Failure(`the package sources have no kernel ${prefix ?? META_PACKAGE}`);
  return release;
}

function defaultRelease() {
  const depends = capture('apt-cache', ['depends', META_PACKAGE]).stdout.toString();
  return /Depends: linux-image-(\S+)/.exec(depends)?.[1];
}

function packagedReleases() {
  const names = capture('apt-cache', ['pkgnames', 'linux-image-']).stdout.toString();
  return names.split('\n').map((name) => name.slice('linux-image-'.length));
}

/**
 * Downloads and unpacks next to the final folder, then renames: an interrupted run leaves no incomplete folder, and of
 * parallel runs the first wins.
 *
 * @param {string} root
 * @param {string} release
 */
function unpack(root, release) {
  removeLeftovers(dirname(root));
  const work = mkdtempSync(join(dirname(root), WORK_PREFIX));
  try {
    const name = `linux-image-${release}`;
    process.stderr.write(`downloading Debian's kernel: ${name} (about 70 MB)\n`);
    const archive = downloadPackage(name, work);
    process.stderr.write(`unpacking ${name}\n`);
    run('dpkg', ['-x', archive, join(work, 'root')]);
    complete(join(work, 'root'), release);
    if (!existsSync(root)) renameSync(join(work, 'root'), root);
  } catch (error) {
    // Another run may have renamed the same kernel since the check.
    if (!existsSync(root)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Deletes the files of killed runs, half a gigabyte each.
 *
 * @param {string} kernels
 */
function removeLeftovers(kernels) {
  for (const name of readdirSync(kernels).filter((entry) => entry.startsWith(WORK_PREFIX))) {
    const path = join(kernels, name);
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - changed > LEFTOVER_MS) rmSync(path, { recursive: true, force: true });
  }
}
