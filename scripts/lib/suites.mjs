// Packages of suites of Debian: unpacked, and not installed.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { capture, find, run } from './commands.mjs';
import { Failure } from './failure.mjs';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const MIRROR = 'http://deb.debian.org/debian';

/**
 * @typedef {object} SuitePackage
 * @property {string} name the package
 * @property {string} suite of Debian
 * @property {string} size of the download, for people
 * @property {string} root the folder for its files
 * @property {RegExp} [only] only packages with such names, of those that it depends on; default: it and all that it depends on
 */

/**
 * Downloads and unpacks a package unless its folder exists.
 *
 * @param {SuitePackage} wanted
 * @param {(root: string) => void} prepare changes the unpacked files, before they are complete
 */
export function ensureUnpacked(wanted, prepare) {
  const { name, suite, size, root } = wanted;
  if (existsSync(root)) return;
  if (!find('apt-get'))
    throw new Failure(`this needs the package ${name} of Debian ${suite}, and there is no apt-get`);
  const more = wanted.only === undefined ? ', and its libraries' : '';
  process.stderr.write(`downloading ${name} of Debian ${suite}${more} (about ${size})\n`);
  mkdirSync(dirname(root), { recursive: true });
  const work = mkdtempSync(join(dirname(root), `.${basename(root)}-`));
  try {
    const unpacked = join(work, 'root');
    for (const archive of download(wanted, join(work, 'apt'))) run('dpkg', ['-x', archive, unpacked]);
    rmSync(join(unpacked, 'usr/share'), { recursive: true, force: true });
    moveBelowUsr(unpacked, 'lib');
    prepare(unpacked);
    // Last: an existing folder is complete. Of parallel runs, the first wins.
    if (!existsSync(root)) renameSync(unpacked, root);
  } catch (error) {
    if (!existsSync(root)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Writes a program in the root that runs an unpacked one with its own libraries, whatever this machine has.
 *
 * @param {string} root
 * @param {string} path of the unpacked program, relative to the root; the written one has its name
 */
export function writeProgram(root, path) {
  const { folder, loader } = librariesIn(root);
  const program = join(root, basename(path));
  writeFileSync(
    program,
    `#!/bin/sh
root=$(dirname "$0")
exec "$root/${folder}/${loader}" --library-path "$root/${folder}" "$root/${path}" "$@"
`,
  );
  chmodSync(program, 0o755);
}

/**
 * Moves a folder to where the packages of later suites have it; a link remains at its old path.
 *
 * @param {string} root
 * @param {string} name
 */
function moveBelowUsr(root, name) {
  const former = join(root, name);
  const target = join(root, 'usr', name);
  if (existsSync(former)) {
    mkdirSync(target, { recursive: true });
    // Hard links: a kernel's modules have half a gigabyte.
    run('cp', ['--archive', '--link', `${former}/.`, target]);
    rmSync(former, { recursive: true });
  }
  symlinkSync(join('usr', name), former);
}

/**
 * The folder of the unpacked libraries, and the loader of programs in it.
 *
 * @param {string} root
 * @returns {{ folder: string, loader: string }} the folder relative to the root, and a name
 */
export function librariesIn(root) {
  for (const name of readdirSync(join(root, 'usr/lib'))) {
    if (!name.includes('-linux-gnu')) continue;
    const folder = join('usr/lib', name);
    const loader = readdirSync(join(root, folder)).find((file) => /^ld-linux.*\.so\.\d+$/.test(file));
    if (loader !== undefined) return { folder, loader };
  }
  throw new Failure(`the packages in ${root} have no loader of programs`);
}

/**
 * Downloads the wanted packages, as for a machine that has no package at all.
 *
 * @param {SuitePackage} wanted
 * @param {string} folder of apt's own state, which holds nothing else
 * @returns {string[]} paths of archives
 */
function download({ name, suite, only }, folder) {
  const options = ownState(suite, folder);
  const archives = join(folder, 'archives');
  run('apt-get', ['-qq', ...options, 'update']);
  if (only === undefined) {
    const install = ['--yes', '--no-install-recommends', '--download-only', 'install', name];
    run('apt-get', ['-qq', ...options, ...install]);
  } else {
    const names = dependenciesOf(name, only, options);
    run('apt-get', ['-qq', ...options, 'download', ...names], { cwd: archives });
  }
  return readdirSync(archives)
    .filter((file) => file.endsWith('.deb'))
    .map((file) => join(archives, file));
}

/**
 * @param {string} name a package
 * @param {RegExp} only
 * @param {readonly string[]} options of apt
 * @returns {string[]} the packages with such names that it depends on, directly or through one of them
 */
function dependenciesOf(name, only, options) {
  /** @type {Set<string>} */
  const found = new Set();
  collect(name);
  if (found.size === 0) throw new Failure(`${name} depends on no package ${only}`);
  return [...found];

  /** @param {string} each */
  function collect(each) {
    const { stdout } = capture('apt-cache', [...options, 'depends', each]);
    for (const [, other = ''] of stdout.toString().matchAll(/^ +Depends: (\S+)$/gm)) {
      if (!only.test(other) || found.has(other)) continue;
      found.add(other);
      collect(other);
    }
  }
}

/**
 * Options of apt for a state of its own, which knows one suite and no installed package.
 *
 * @param {string} suite
 * @param {string} folder
 * @returns {string[]}
 */
function ownState(suite, folder) {
  for (const each of ['lists/partial', 'archives/partial', 'parts'])
    mkdirSync(join(folder, each), { recursive: true });
  const key = existsSync(KEYRING) ? `[signed-by=${KEYRING}] ` : '';
  writeFileSync(join(folder, 'sources.list'), `deb ${key}${mirror()} ${suite} main\n`);
  writeFileSync(join(folder, 'status'), '');
  const settings = {
    'Dir::Etc::sourcelist': join(folder, 'sources.list'),
    'Dir::Etc::sourceparts': join(folder, 'parts'),
    'Dir::State': folder,
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::State::status': join(folder, 'status'),
    'Dir::Cache': folder,
    'Dir::Cache::archives': join(folder, 'archives'),
    'Acquire::Languages': 'none',
    // A mirror may be some weeks old; signatures are checked all the same.
    'Acquire::Check-Valid-Until': 'false',
    // apt's download user could not write here, and other users can lock nothing else.
    'APT::Sandbox::User': 'root',
    'Debug::NoLocking': 'true',
  };
  return Object.entries(settings).flatMap(([option, value]) => ['-o', `${option}=${value}`]);
}

/** The mirror of this machine's own suite; if it has none, the common one. */
function mirror() {
  const format = '$(REPO_URI) $(COMPONENT) $(ORIGIN)';
  const { ok, stdout } = capture('apt-get', ['indextargets', '--format', format, 'Created-By: Packages']);
  const lines = stdout.toString().split('\n');
  const found = lines.find((line) => line.endsWith(' main Debian') && !line.includes('security'));
  return (ok && found?.split(' ')[0]) || MIRROR;
}
