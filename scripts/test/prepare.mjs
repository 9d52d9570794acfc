// Prepares a clone for its tests: Debian packages, npm packages, the build.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { buildCommand, buildNative, buildTypeScript } from '../lib/build.mjs';
import { CHECKOUT } from '../lib/checkout.mjs';
import { BUILD_PACKAGES, ensurePackages, SHELL_PACKAGES, WITNESS_PACKAGES } from '../lib/packages.mjs';
import { heading, nodeScript, step } from '../lib/steps.mjs';
import { preparePackage } from './package.mjs';
import { ensurePromtool } from './promtool.mjs';

/**
 * @param {readonly import('./tiers.mjs').Tier[]} tiers the tiers to run
 */
export function prepare(tiers) {
  const native = tiers.some((tier) => tier.native);
  const kernel = tiers.some((tier) => tier.needs);
  heading('Debian packages');
  ensurePackages({
    ...(native ? BUILD_PACKAGES : {}),
    ...(native || kernel ? WITNESS_PACKAGES : {}),
    ...(tiers.some((tier) => tier.shells) ? SHELL_PACKAGES : {}),
  });
  if (tiers.some((tier) => tier.promtool)) ensurePromtool();
  ensureNodeModules();
  if (native) buildNative();
  buildTypeScript();
  if (tiers.some((tier) => tier.bundled)) buildCommand();
  if (tiers.some((tier) => tier.packed)) preparePackage();
  if (tiers.some((tier) => tier.image)) buildImage();
}

/** Builds the image from replaced base images, without a registry, unless its inputs are unchanged. */
function buildImage() {
  const folders = ['--storage', '.cache/image/storage', '--export', '.cache/image/unpacked'];
  step('container image', nodeScript('scripts/image.mjs', '--stand-in-bases', ...folders));
}

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
