// The root folder of a machine with only Debian, Node.js, npm, git and apt: made once, and copied for each run.

import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { capture, run } from '../lib/commands.mjs';
import { Failure } from '../lib/failure.mjs';
import { heading } from '../lib/steps.mjs';

const CACHE = join(CHECKOUT, '.cache', 'bare');
const BASE = join(CACHE, 'base');

/** The folder of the clone in the machine. Other users cannot enter root's home. */
export const CLONE = '/root/checkout';

// The machine reaches packages as this one does. Absent files are left out.
const SOURCES = '/etc/apt/sources.list.d/debian.sources';
const CONFIGURATION = ['/etc/resolv.conf', '/etc/ssl/certs/ca-certificates.crt', SOURCES];

/**
 * @param {boolean} fresh whether it is made again
 * @returns {string} the folder that new machines are copied from
 */
export function ensureBase(fresh) {
  if (fresh) deleteRoot(BASE);
  if (existsSync(BASE)) return BASE;
  mkdirSync(CACHE, { recursive: true });
  // An interrupted run leaves an incomplete folder under another name.
  const folder = mkdtempSync(join(CACHE, 'new-'));
  try {
    heading(`debootstrap: the smallest Debian ${release()}, with git`);
    const mirror = existsSync(SOURCES)
      ? /^URIs: *(\S+)/m.exec(readFileSync(SOURCES, 'utf8'))?.[1]
      : undefined;
    const wanted = ['--variant=minbase', '--include=git,ca-certificates'];
    const { ok, stdout, stderr } = capture('debootstrap', [
      ...wanted,
      release(),
      folder,
      ...(mirror === undefined ? [] : [mirror]),
    ]);
    if (!ok) throw new Failure(`debootstrap failed: ${(stdout.toString() + stderr).trim().slice(-1000)}`);
    addNode(folder);
    // It becomes /, which all users may enter; mkdtemp() makes folders for one user. Copies have its mode.
    chmodSync(folder, 0o755);
    renameSync(folder, BASE);
  } catch (error) {
    deleteRoot(folder);
    // Of parallel runs, the first wins: a folder with contents is not renamed over.
    if (!existsSync(BASE)) throw error;
  }
  return BASE;
}

/** The name of this machine's Debian release: `bookworm`. */
function release() {
  const name = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  if (name === undefined) throw new Failure('/etc/os-release does not name a release of Debian');
  return name;
}

/**
 * Copies this machine's Node.js and npm, and nothing else of it.
 *
 * @param {string} root
 */
function addNode(root) {
  const headers = join(dirname(dirname(process.execPath)), 'include', 'node');
  const modules = join(root, 'usr/lib/node_modules');
  mkdirSync(modules, { recursive: true });
  copyFileSync(process.execPath, join(root, 'usr/bin/node'));
  if (existsSync(headers)) cpSync(headers, join(root, 'usr/include/node'), { recursive: true });
  const npm = join(capture('npm', ['root', '--global']).stdout.toString().trim(), 'npm');
  cpSync(npm, join(modules, 'npm'), { recursive: true, verbatimSymlinks: true });
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/bin', name));
}

/**
 * @param {string} base
 * @returns {string} a new copy, with this machine's configuration of packages and a clone of the checkout
 */
export function makeRoot(base) {
  const root = mkdtempSync(join(CACHE, 'run-'));
  try {
    run('cp', ['--archive', '--reflink=auto', `${base}/.`, root]);
    for (const path of CONFIGURATION) copyIfThere(path, join(root, path));
    // The sources of debootstrap would be second ones for the same packages.
    if (existsSync(SOURCES)) rmSync(join(root, 'etc/apt/sources.list'), { force: true });
    copyIfThere('/etc/npmrc', join(root, 'etc/npmrc'));
    copyIfThere(join(dirname(dirname(process.execPath)), 'etc/npmrc'), join(root, 'usr/etc/npmrc'));
    copyIfThere(join(homedir(), '.npmrc'), join(root, 'root/.npmrc'));
    run('git', ['clone', '--quiet', '--no-hardlinks', CHECKOUT, join(root, CLONE)]);
    return root;
  } catch (error) {
    deleteRoot(root);
    throw error;
  }
}

/**
 * @param {string} from
 * @param {string} to
 */
function copyIfThere(from, to) {
  if (!existsSync(from)) return;
  mkdirSync(dirname(to), { recursive: true });
  rmSync(to, { force: true });
  copyFileSync(from, to);
}

/** @param {string} root */
export function deleteRoot(root) {
  run('rm', ['-rf', '--one-file-system', root]);
}
