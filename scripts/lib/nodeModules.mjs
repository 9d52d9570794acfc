// Installs the npm packages of the checkout.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from './checkout.mjs';
import { step } from './steps.mjs';

/** Installs the packages of package-lock.json, unless they were installed after its last change. */
export function ensureNodeModules() {
  // npm writes the hidden lock file at the end of every installation.
  const installed = changedAt('node_modules/.package-lock.json');
  if (installed >= changedAt('package-lock.json')) return;
  // No package in package-lock.json needs its install script.
  step('npm packages: npm ci', ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund']);
}

/**
 * @param {string} path
 * @returns {number} milliseconds since the epoch; 0 if there is no such file
 */
function changedAt(path) {
  return statSync(join(CHECKOUT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
