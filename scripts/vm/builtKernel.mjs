// A kernel of User Mode Linux with everything that the tests need, built from Debian's package of the kernel's source.

import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { capture, run } from '../lib/commands.mjs';
import { Failure } from '../lib/failure.mjs';
import { ensurePackages, KERNEL_BUILD_PACKAGES } from '../lib/packages.mjs';
import { heading } from '../lib/steps.mjs';
import { ensureUnpacked } from '../lib/suites.mjs';
import { BUILT } from './kernelNames.mjs';
import { IMAGE, umlKernelIn } from './umlKernel.mjs';

// The newest source of Debian's stable release: the test machine is quick only with a kernel that is newer than the release's own.
const SUITE = 'trixie-backports';
const CONFIGURATION = fileURLToPath(new URL('kernel.config', import.meta.url));
/** The options of xtables and ipset. */
const XTABLES = /^CONFIG_(NETFILTER_XT|IP6?_NF_|NFT_COMPAT|BRIDGE_EBT|IP_SET)/;

/** @typedef {import('./kernelNames.mjs').BuiltName} BuiltName */

// Drivers that are built in create links at the start, as their modules do when they are loaded.
const NO_LINKS = ['dummy.numdummies=0', 'ifb.numifbs=0', 'bonding.max_bonds=0'];

/** @param {BuiltName} name */
function configurationOf(name) {
  const lines = readFileSync(CONFIGURATION, 'utf8').split('\n');
  return (name === BUILT ? lines : lines.filter((line) => !XTABLES.test(line))).join('\n');
}

/**
 * @param {string} cache
 * @param {BuiltName} name
 */
function folderIn(cache, name) {
  const digest = createHash('sha256').update(configurationOf(name)).digest('hex');
  return join(cache, `uml-built-${digest.slice(0, 12)}`);
}

/**
 * Whether the kernel that has everything is in the cache.
 *
 * @param {string} cache
 */
export const hasBuiltKernel = (cache) => existsSync(folderIn(cache, BUILT));

/**
 * The kernel, from the cache or built.
 *
 * @param {string} cache
 * @param {BuiltName} [name]
 * @returns {import('./kernel.mjs').Kernel}
 */
export function ensureBuiltKernel(cache, name = BUILT) {
  const root = folderIn(cache, name);
  if (!existsSync(root)) {
    ensurePackages(KERNEL_BUILD_PACKAGES);
    const wanted = { name: 'linux-source', suite: SUITE, size: '170 MB', only: /^linux-source-\d/ };
    ensureUnpacked({ ...wanted, root }, (folder) => build(folder, configurationOf(name)));
  }
  const kernel = umlKernelIn(root, join(root, 'lib/modules'));
  return { ...kernel, options: [...(kernel.options ?? []), ...NO_LINKS] };
}

/**
 * Builds the kernel in an unpacked package, and leaves only the image and the list of what is built in.
 *
 * @param {string} root
 * @param {string} configuration
 */
function build(root, configuration) {
  const packed = join(root, 'usr/src');
  const [archive, ...others] = readdirSync(packed).filter((name) => name.endsWith('.tar.xz'));
  if (archive === undefined || others.length > 0)
    throw new Failure(`${packed} must have one archive of the source`);
  const source = join(packed, 'linux');
  mkdirSync(source);
  run('tar', ['-xf', join(packed, archive), '-C', source, '--strip-components=1']);
  heading(`kernel of the tests: ${archive.replace('.tar.xz', '')} (6 minutes on 2 CPUs, once)`);
  const make = ['-C', source, '-s', 'ARCH=um', '-j', String(availableParallelism() + 1)];
  const wanted = join(source, 'wanted.config');
  writeFileSync(wanted, configuration);
  run('make', [...make, `KCONFIG_ALLCONFIG=${wanted}`, 'allnoconfig']);
  requireConfigured(join(source, '.config'), configuration);
  run('make', [...make, 'linux']);
  const release = capture('make', [...make, 'kernelrelease'])
    .stdout.toString()
    .trim();
  const modules = join(root, 'usr/lib/modules', release);
  mkdirSync(modules, { recursive: true });
  for (const name of ['modules.builtin', 'modules.builtin.modinfo'])
    copyFileSync(join(source, name), join(modules, name));
  writeFileSync(join(modules, 'modules.order'), ''); // there are no modules
  run('depmod', ['-b', root, release]);
  mkdirSync(join(root, 'usr/bin'), { recursive: true });
  renameSync(join(source, 'linux'), join(root, IMAGE));
  rmSync(packed, { recursive: true });
}

/**
 * The build leaves out an option whose name it does not know, or which depends on another one, and says nothing.
 *
 * @param {string} path of the complete configuration
 * @param {string} configuration the wanted one
 */
function requireConfigured(path, configuration) {
  const complete = new Set(readFileSync(path, 'utf8').split('\n'));
  const missing = configuration
    .split('\n')
    .filter((line) => /^CONFIG_\w+=[^n]/.test(line) && !complete.has(line));
  if (missing.length > 0) throw new Failure(`this source of Linux cannot have ${missing.join(', ')}`);
}
