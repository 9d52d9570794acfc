// What the package contains as npm publishes it, and what npm installs with it.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../lib/failure.mjs';
import { addonBinaries, bundledPackages, packageComponent, partsOfAddon } from './npm.mjs';

/**
 * @param {string} checkout
 * @returns {import('./cycloneDx.mjs').Contents}
 */
export function packageContents(checkout) {
  const { name, version, license, dependencies } = JSON.parse(
    readFileSync(join(checkout, 'package.json'), 'utf8'),
  );
  const licenses = join(checkout, 'dist/command/LICENSES');
  if (!existsSync(licenses)) throw new Failure(`there is no ${licenses}: run \`npm run build\` first`);
  return {
    subject: { ...packageComponent(name, version, license), type: 'application' },
    components: [
      ...Object.keys(dependencies).map((dependency) => locked(checkout, dependency)),
      ...bundledPackages(readFileSync(licenses, 'utf8')),
      ...addonBinaries(checkout, version, partsOfAddon(checkout)),
    ],
  };
}

/**
 * A dependency, with the version and the hash of the lock file. None of them has dependencies of its own.
 *
 * @param {string} checkout
 * @param {string} name
 * @returns {import('./cycloneDx.mjs').Component}
 */
function locked(checkout, name) {
  const { packages } = JSON.parse(readFileSync(join(checkout, 'package-lock.json'), 'utf8'));
  const found = packages[`node_modules/${name}`];
  const others = Object.keys({ ...found?.dependencies, ...found?.optionalDependencies });
  if (others.length > 0)
    throw new Failure(`${name} needs ${others.join(', ')}, which this bill does not list`);
  const [, hash] = /^sha512-(.+)$/.exec(found?.integrity ?? '') ?? [];
  if (hash === undefined) throw new Failure(`package-lock.json has no hash of ${name}`);
  const content = Buffer.from(hash, 'base64').toString('hex');
  return { ...packageComponent(name, found.version, found.license), hashes: [{ alg: 'SHA-512', content }] };
}
