// The guest's initramfs: busybox, the modules needed to mount the root, and the job.

import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { find } from '../lib/commands.mjs';
import { Failure } from '../lib/failure.mjs';
import { archive, directory, file, symlink } from './cpio.mjs';
import { unpackXz } from './xz.mjs';

/**
 * @typedef {import('./kernel.mjs').Kernel} Kernel
 * @typedef {import('./machine.mjs').Kind} Kind
 */

const APPLETS = ['sh', 'cp', 'insmod', 'mkdir', 'mount', 'sleep', 'switch_root'];

/**
 * Built for every run: it takes about 10 ms, and is never out of date.
 *
 * @param {Kind} kind
 * @param {Kernel} kernel
 * @param {string} job shell text for the guest, see job.mjs
 * @returns {Buffer}
 */
export function makeInitramfs(kind, kernel, job) {
  const modules = loadOrder(kernel, kind.modules);
  return archive([
    ...['bin', 'modules', 'job', 'proc', 'sys', 'dev', 'host', 'writes', 'root'].map(directory),
    file('bin/busybox', readBusybox()),
    ...APPLETS.map((applet) => symlink(`bin/${applet}`, 'busybox')),
    ...modules.map((path, index) => file(`modules/${moduleFile(path, index)}`, readModule(path))),
    file('init', guestScript('init.sh')),
    file('job/supervise.sh', guestScript('supervise.sh')),
    file('job/machine.sh', guestScript(kind.guest)),
    file('job/job.sh', job),
  ]);
}

/** @param {string} name */
function guestScript(name) {
  return readFileSync(new URL(`guest/${name}`, import.meta.url));
}

function readBusybox() {
  const path = find('busybox');
  if (path === undefined) throw new Failure('busybox is missing (Debian package busybox-static)');
  const program = readFileSync(path);
  // The guest has no libraries at first.
  if (program.includes('/ld-linux'))
    throw new Failure(`${path} is not static (Debian package busybox-static)`);
  return program;
}

/**
 * The files of the modules in the order of loading.
 *
 * @param {Kernel} kernel
 * @param {readonly string[]} wanted names of modules
 * @returns {string[]}
 */
function loadOrder({ release, modules }, wanted) {
  const folder = join(modules, release);
  /** @type {Map<string, string[]>} module → its file and those of its dependencies, nearest first */
  const index = new Map();
  for (const line of readFileSync(join(folder, 'modules.dep'), 'utf8').split('\n')) {
    const [path = '', needs = ''] = line.split(':');
    index.set(moduleName(path), [path, ...needs.split(' ').filter(Boolean)]);
  }
  const builtIn = () => readFileSync(join(folder, 'modules.builtin'), 'utf8').split('\n').map(moduleName);
  const order = wanted.flatMap((name) => {
    const paths = index.get(moduleName(name));
    if (paths) return [...paths].reverse();
    if (builtIn().includes(moduleName(name))) return [];
    throw new Failure(`kernel ${release} has no module ${name}`);
  });
  return [...new Set(order)].map((path) => join(folder, path));
}

/**
 * The kernel treats - and _ in module names as equal.
 *
 * @param {string} path
 */
function moduleName(path) {
  return basename(path)
    .replace(/\.ko(\.xz)?$/, '')
    .replaceAll('-', '_');
}

/**
 * Numbered, because the guest loads them in the order of their names.
 *
 * @param {string} path
 * @param {number} index
 */
function moduleFile(path, index) {
  return `${String(index).padStart(2, '0')}-${moduleName(path)}.ko`;
}

/**
 * @param {string} path
 * @returns {Buffer}
 */
function readModule(path) {
  const bytes = readFileSync(path);
  return path.endsWith('.xz') ? unpackXz(bytes) : bytes;
}
