// Installs missing Debian packages, after it has named them.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { capture, find, run, succeeds } from './commands.mjs';
import { Failure } from './failure.mjs';

/**
 * The witness of an installed package: a command on PATH, or the absolute path of a file.
 *
 * @typedef {Readonly<Record<string, string>>} Requirements package name → witness
 */

/** @type {Requirements} Boots the test kernel of User Mode Linux. */
export const UML_PACKAGES = {
  patchelf: 'patchelf',
  'busybox-static': 'busybox',
  // Also the proxy's own modprobe: the guest has this machine's programs.
  kmod: 'modprobe',
};

/** @type {Requirements} Boots the test kernel in QEMU. */
export const QEMU_PACKAGES = {
  'qemu-system-x86': 'qemu-system-x86_64',
  'busybox-static': 'busybox',
  kmod: 'depmod',
  'xz-utils': 'xz',
};

/** @type {Requirements} Builds a kernel of User Mode Linux. */
export const KERNEL_BUILD_PACKAGES = {
  bc: 'bc',
  bison: 'bison',
  flex: 'flex',
  gcc: 'gcc',
  // The headers of the C library, in which User Mode Linux runs.
  'libc6-dev': '/usr/include/stdio.h',
  make: 'make',
  'xz-utils': 'xz',
};

/** @type {Requirements} Run node-gyp, with a compiler from elsewhere. */
export const NODE_GYP_PACKAGES = { make: 'make', python3: 'python3' };

/** @type {Requirements} Compiles the native addon. */
export const COMPILER_PACKAGES = { 'g++': 'g++', ...NODE_GYP_PACKAGES };

/** @type {Requirements} Builds the native addon and its tests; the addon loads libipset when it runs. */
export const BUILD_PACKAGES = {
  ...COMPILER_PACKAGES,
  cmake: 'cmake',
  valgrind: 'valgrind',
  'libipset-dev': '/usr/include/libipset/session.h',
};

/** @type {Requirements} Tools that show the kernel state, in tests and for people. */
export const WITNESS_PACKAGES = {
  conntrack: 'conntrack',
  ipset: 'ipset',
  iproute2: 'ip',
  iptables: 'iptables',
  ipvsadm: 'ipvsadm',
  nftables: 'nft',
  strace: 'strace',
};

/** @type {Requirements} Run the completion scripts and render the man page, in tests. */
export const SHELL_PACKAGES = {
  zsh: 'zsh',
  fish: 'fish',
  'groff-base': 'groff',
};

/** @type {Requirements} Asks the servers of the agent, in tests of documents. */
export const CURL_PACKAGES = { curl: 'curl' };

/** @type {Requirements} Builds and runs the container image. */
export const IMAGE_PACKAGES = { buildah: 'buildah', debootstrap: 'debootstrap', crun: 'crun' };

/**
 * Installs the packages whose witness is missing. Commands from other sources count too. Call it before anything else: a machine
 * that cannot install them then ends with their names, and nothing is half done.
 *
 * @param {Requirements} requirements
 */
export function ensurePackages(requirements) {
  const missing = missingOf(requirements);
  if (missing.length === 0) return;
  if (!find('apt-get')) {
    throw new Failure(`this needs ${missing.join(', ')} (names of Debian packages), and there is no apt-get`);
  }
  if (!isRoot() && !find('sudo')) {
    const command = `apt-get update && apt-get install -y --no-install-recommends ${missing.join(' ')}`;
    throw new Failure(`this needs Debian packages, and there is no sudo; run as root first: ${command}`);
  }
  process.stderr.write(`installing Debian packages: ${missing.join(' ')}\n`);
  const install = ['apt-get', ...QUIET, 'install', '-y', '--no-install-recommends', ...missing];
  if (withFreshLists(missing, () => succeeds(...asRoot(install)))) return;
  throw new Failure(`apt-get could not install ${missing.join(', ')}; its messages are above`);
}

/**
 * Whether the packages are installed or available: some distributions and architectures do not have all of them.
 *
 * @param {Requirements} requirements
 */
export function isObtainable(requirements) {
  const missing = missingOf(requirements);
  if (missing.length === 0) return true;
  if (!find('apt-get')) return false;
  // If the lists have QEMU, they are not empty, and fetching them again would add nothing.
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
  // apt's download user could not write here.
  const sandbox = isRoot() ? ['-o', 'APT::Sandbox::User=root'] : [];
  const download = ['-qq', ...sandbox, 'download', name];
  if (!withFreshLists([name], () => succeeds('apt-get', download, { cwd: folder }))) {
    throw new Failure(`apt-get could not download ${name}; its messages are above`);
  }
  const archive = readdirSync(folder).find((entry) => entry.endsWith('.deb'));
  if (archive === undefined) throw new Failure(`apt-get download left no package of ${name}`);
  return join(folder, archive);
}

// Time to wait for another run's lock, in s.
const QUIET = ['-qq', '-o', 'Dpkg::Use-Pty=0', '-o', 'DPkg::Lock::Timeout=300'];

/**
 * Runs an apt action. If the package lists do not have a package, it fetches them first. If the action fails, it fetches
 * them and retries once, because old lists may name deleted versions.
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

const isRoot = () => process.getuid?.() === 0;

function updateLists() {
  process.stderr.write('fetching package lists: apt-get update\n');
  run(...asRoot(['apt-get', ...QUIET, 'update']));
}

/**
 * @param {readonly string[]} command
 * @returns {[string, string[]]} the command for root, with sudo for other users
 */
function asRoot(command) {
  const full = ['env', 'DEBIAN_FRONTEND=noninteractive', ...command];
  if (isRoot()) return ['env', full.slice(1)];
  if (!find('sudo')) throw new Failure(`run this as root first: ${command.join(' ')}`);
  process.stderr.write(`this needs root, asking sudo: ${command.join(' ')}\n`);
  return ['sudo', full];
}
