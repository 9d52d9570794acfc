// Prepares a clone for its tests: Debian packages, npm packages, the build.

import { buildCommand, buildNative, buildTypeScript } from '../lib/build.mjs';
import { ensureNodeModules } from '../lib/nodeModules.mjs';
import {
  BUILD_PACKAGES,
  CURL_PACKAGES,
  ensurePackages,
  IMAGE_PACKAGES,
  KERNEL_BUILD_PACKAGES,
  NODE_GYP_PACKAGES,
  SHELL_PACKAGES,
  WITNESS_PACKAGES,
} from '../lib/packages.mjs';
import { heading, nodeScript, step } from '../lib/steps.mjs';
import { BUILT } from '../vm/kernelNames.mjs';
import { testMachinePackages, usualUmlKernel } from '../vm/testMachines.mjs';
import { ensureAppArmor } from './appArmor.mjs';
import { ensureCycloneDx } from './cycloneDx.mjs';
import { ensureDeployTools } from './deployTools.mjs';
import { ensureNftVersions } from './nftVersions.mjs';
import { LOADER_PACKAGES, preparePackage } from './package.mjs';
import { ensurePromtool } from './promtool.mjs';
import { ensureSeccompLauncher, SECCOMP_PACKAGES } from './seccompLauncher.mjs';

/**
 * @param {ReadonlyMap<import('./tiers.mjs').Tier, readonly import('./tiers.mjs').TestFile[]>} tiers the tiers to run
 * @param {boolean} builds whether a kernel of User Mode Linux is built meanwhile
 */
export function prepare(tiers, builds) {
  const native = [...tiers.keys()].some((tier) => tier.native);
  const files = [...tiers.values()].flat();
  const needed = new Set(files.flatMap(({ prepared }) => prepared));
  const kernel = files.some(({ features }) => features.length > 0);
  heading('Debian packages');
  ensurePackages({ ...packagesOf(native, kernel, needed), ...(builds ? KERNEL_BUILD_PACKAGES : {}) });
  if (needed.has('promtool')) ensurePromtool();
  if (needed.has('apparmor')) ensureAppArmor();
  if (needed.has('nft')) ensureNftVersions();
  if (needed.has('seccomp')) ensureSeccompLauncher();
  ensureNodeModules();
  if (needed.has('deployTools')) ensureDeployTools();
  if (needed.has('cycloneDx')) ensureCycloneDx();
  if (native) buildNative();
  buildTypeScript();
  if (needed.has('command') || [...tiers.keys()].some((tier) => tier.bundled)) buildCommand();
  if (needed.has('package')) preparePackage();
  const options = needed.has('builds') ? ['--twice'] : [];
  if (needsImage(needed)) step('container image', nodeScript('scripts/image.mjs', ...options));
}

/**
 * All packages that the tests need: one call of apt before anything else.
 *
 * @param {boolean} native whether the addon is built
 * @param {boolean} kernel whether a test runs in a test machine
 * @param {ReadonlySet<import('./needs.mjs').Preparation>} needed
 * @returns {import('../lib/packages.mjs').Requirements}
 */
function packagesOf(native, kernel, needed) {
  const all = needed.has('testMachines');
  return {
    ...(native ? BUILD_PACKAGES : {}),
    ...(native || kernel ? WITNESS_PACKAGES : {}),
    ...(kernel || all ? testMachinePackages(all) : {}),
    ...(needed.has('seccomp') ? SECCOMP_PACKAGES : {}),
    ...(needed.has('shells') ? SHELL_PACKAGES : {}),
    ...(needed.has('curl') ? CURL_PACKAGES : {}),
    ...(needed.has('package') ? LOADER_PACKAGES : {}),
    ...(needsImage(needed) ? { ...NODE_GYP_PACKAGES, ...IMAGE_PACKAGES } : {}),
  };
}

/**
 * Whether a test may run in the kernel that has everything, and that is not in the cache.
 *
 * @param {ReadonlyMap<import('./tiers.mjs').Tier, readonly import('./tiers.mjs').TestFile[]>} tiers
 */
export const needsUmlKernel = (tiers) =>
  process.arch === 'x64' &&
  usualUmlKernel() !== BUILT &&
  [...tiers.values()].flat().some(({ features }) => features.length > 0);

/** @param {ReadonlySet<import('./needs.mjs').Preparation>} needed */
const needsImage = (needed) => needed.has('image') || needed.has('builds');
