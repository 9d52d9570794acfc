// Prepares a clone for its tests: Debian packages, npm packages, the build.

import { buildCommand, buildNative, buildTypeScript } from '../lib/build.mjs';
import { ensureNodeModules } from '../lib/nodeModules.mjs';
import {
  BUILD_PACKAGES,
  ensurePackages,
  IMAGE_PACKAGES,
  NODE_GYP_PACKAGES,
  SHELL_PACKAGES,
  WITNESS_PACKAGES,
} from '../lib/packages.mjs';
import { heading, nodeScript, step } from '../lib/steps.mjs';
import { vehiclePackages } from '../vm/vehicles.mjs';
import { LOADER_PACKAGES, preparePackage } from './package.mjs';
import { ensurePromtool } from './promtool.mjs';

/**
 * @param {readonly import('./tiers.mjs').Tier[]} tiers the tiers to run
 */
export function prepare(tiers) {
  const native = tiers.some((tier) => tier.native);
  heading('Debian packages');
  ensurePackages(packagesOf(tiers));
  if (tiers.some((tier) => tier.promtool)) ensurePromtool();
  ensureNodeModules();
  if (native) buildNative();
  buildTypeScript();
  if (tiers.some((tier) => tier.bundled)) buildCommand();
  if (tiers.some((tier) => tier.packed)) preparePackage();
  if (tiers.some((tier) => tier.image)) buildImage();
}

/**
 * All packages that the tiers need: one call of apt before anything else.
 *
 * @param {readonly import('./tiers.mjs').Tier[]} tiers
 * @returns {import('../lib/packages.mjs').Requirements}
 */
function packagesOf(tiers) {
  const native = tiers.some((tier) => tier.native);
  const kernel = tiers.some((tier) => tier.needs ?? tier.others);
  const vehicles = tiers.some((tier) => tier.vehicles);
  const image = tiers.some((tier) => tier.image);
  return {
    ...(native ? BUILD_PACKAGES : {}),
    ...(native || kernel ? WITNESS_PACKAGES : {}),
    ...(kernel || vehicles ? vehiclePackages(vehicles) : {}),
    ...(tiers.some((tier) => tier.shells) ? SHELL_PACKAGES : {}),
    ...(tiers.some((tier) => tier.packed) ? LOADER_PACKAGES : {}),
    ...(image ? { ...NODE_GYP_PACKAGES, ...IMAGE_PACKAGES } : {}),
  };
}

/** Builds the image from replaced base images, without a registry, unless its inputs are unchanged. */
function buildImage() {
  const folders = ['--storage', '.cache/image/storage', '--export', '.cache/image/unpacked'];
  step('container image', nodeScript('scripts/image.mjs', '--stand-in-bases', ...folders));
}
