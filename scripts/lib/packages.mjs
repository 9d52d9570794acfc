// Debian packages that the scripts need: which are missing, and installing them after saying so.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { capture, find, run, succeeds } from './commands.mjs';
import { Failure } from './failure.mjs';

/**
 * What shows that a package is there: a command on PATH, or the absolute path of a file.
 *
 * @typedef {Readonly<Record<string, string>>} Requirements package name → witness
 */

/** @type {Requirements} Boots the test kernel of User Mode Linux. */
export const UML_PACKAGES = {
  'user-mode-linux': 'linux.uml',
  'busybox-static': 'busybox',
};

/** @type {Requirements} Boots the test kernel in QEMU. */
export const QEMU_PACKAGES = {
  'qemu-system-x86': 'qemu-system-x86_64',
  'busybox-static': 'busybox',
  kmod: 'depmod',
  'xz-utils': 'xz',
};

/** @type {Requirements} Makes the native addon, its tests too; libipset is what the addon loads when it runs. */
export const BUILD_PACKAGES = {
  'g++': 'g++',
  make: 'make',
  python3: 'python3',
  cmake: 'cmake',
  'libipset-dev': '/usr/include/libipset/session.h',
};

/** @type {Requirements} What tests and people use to look at a kernel, inside the VM as outside. */
export const WITNESS_PACKAGES = {
  conntrack: 'conntrack',
  ipset: 'ipset',
  iproute2: 'ip',
  iptables: 'iptables',
  ipvsadm: 'ipvsadm',
  strace: 'strace',
};

/** @type {Requirements} Builds the container image, and runs it. */
export const IMAGE_PACKAGES = { buildah: 'buildah', debootstrap: 'debootstrap', crun: 'crun' };

/**
 * Installs those packages whose witness is missing. A machine that has the commands from elsewhere is left alone.
 *
 * @param {Requirements} requirements
 */
export function ensurePackages(requirements) {
  const missing = missingOf(requirements);
  if (missing.length === 0) return;
  if (!find('apt-get')) {
    throw new Failure(`this needs ${missing.join(', ')} (names of Debian packages), and there is no apt-get`);
  }
  process.stderr.write(`installing Debian packages: ${missing.join(' ')}\n`);
  const install = ['apt-get', ...QUIET, 'install', '-y', '--no-install-recommends', ...missing];
  if (withFreshLists(missing, () => succeeds(...asRoot(install)))) return;
  throw new Failure(`apt-get could not install ${missing.join(', ')}; its messages are above`);
}

/**
 * Whether the packages are there or the package sources have them: some distributions and architectures lack some.
 *
 * @param {Requirements} requirements
 */
export function isObtainable(requirements) {
  const missing = missingOf(requirements);
  if (missing.length === 0) return true;
  if (!find('apt-get')) return false;
  // Lists that have QEMU are not empty: fetching them again would not add what they lack.
  if (!areKnown(Object.keys(QEMU_PACKAGES))) updateLists();
  return areKnown(missing);
}

/** @param {Requirements} requirements */
function missingOf(requirements) {
  return Object.keys(requirements).filter((name) => find(requirements[name] ?? name) === undefined);
}

/** @param {readonly string[]} packages */
function areKnown(packages) {
  return capture('apt-cache', ['show', '--no-all-versions', ...packages]).ok;
}

/**
 * Downloads a package, and installs nothing.
 *
 * @param {string} name
 * @param {string} folder holds no other package
 * @returns {string} the path of its archive, for `dpkg -x`
 */
export function downloadPackage(name, folder) {
  // Root needs no helper user to download for it, and that user could not write here.
  const sandbox = process.getuid?.() === 0 ? ['-o', 'APT::Sandbox::User=root'] : [];
  const download = ['-qq', ...sandbox, 'download', name];
  if (!withFreshLists([name], () => succeeds('apt-get', download, { cwd: folder }))) {
    throw new Failure(`apt-get could not download ${name}; its messages are above`);
  }
  const archive = readdirSync(folder).find((entry) => entry.endsWith('.deb'));
  if (archive === undefined) throw new Failure(`apt-get download left no package of ${name}`);
  return join(folder, archive);
}

// Waits for another run's installation instead of failing on its lock (seconds).
const QUIET = ['-qq', '-o', 'Dpkg::Use-Pty=0', '-o', 'DPkg::Lock::Timeout=300'];

/**
 * Runs an apt action; fetches the package lists first if they lack a package, or afterwards if the action fails
 * (old lists name versions that the archive no longer has) and then tries once more.
 *
 * @param {readonly string[]} packages
 * @param {() => boolean} action returns whether it succeeded
 * @returns {boolean} whether it succeeded in the end
 */
export function withFreshLists(packages, action) {
  if (areKnown(packages) && action()) return true;
  updateLists();
  return action();
}

function updateLists() {
  process.stderr.write('fetching package lists: apt-get update\n');
  run(...asRoot(['apt-get', ...QUIET, 'update']));
}

/**
 * @param {readonly string[]} command
 * @returns {[string, string[]]} the command as root runs it, through sudo for anybody else
 */
function asRoot(command) {
  const full = ['env', 'DEBIAN_FRONTEND=noninteractive', ...command];
  if (process.getuid?.() === 0) return ['env', full.slice(1)];
  if (!find('sudo')) throw new Failure(`run this as root first: ${command.join(' ')}`);
  process.stderr.write(`this needs root, asking sudo: ${command.join(' ')}\n`);
  return ['sudo', full];
}
