// Packages of npm that are tools of this checkout and not its dependencies: installed below .cache/, with the hashes of their
// lock file.

import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from './checkout.mjs';
import { step } from './steps.mjs';
import { onlyWhenChanged } from './whenChanged.mjs';

const FILES = ['package.json', 'package-lock.json'];

/**
 * Installs the packages of a package.json and its lock file, unless they are installed.
 *
 * @param {object} packages
 * @param {string} packages.folder of both files, relative to the checkout
 * @param {string} packages.place where they are installed, relative to the checkout
 * @param {string} packages.title of the step
 * @param {boolean} [packages.allProcessors] whether packages for other processors too are installed (default true)
 * @returns {string} the absolute path of node_modules
 */
export function installPinned({ folder, place, title, allProcessors = true }) {
  const target = join(CHECKOUT, place);
  const output = join(target, 'installed');
  const inputs = FILES.map((file) => join(folder, file));
  onlyWhenChanged({ output, inputs, with: process.arch, force: false }, () => {
    mkdirSync(target, { recursive: true });
    for (const file of FILES) cpSync(join(CHECKOUT, folder, file), join(target, file));
    const options = [
      ...(allProcessors ? ['--force'] : []),
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ];
    step(title, ['npm', 'ci', '--prefix', place, ...options]);
    writeFileSync(output, '');
  });
  return join(target, 'node_modules');
}
