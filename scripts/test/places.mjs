// Selects where a test runs: on this machine, or in the first test machine with the features that the test needs.

import { Failure } from '../lib/failure.mjs';
import { BUILT, isBuiltName, USUAL_SUITE } from '../vm/kernelNames.mjs';
import { serves } from '../vm/namespace.mjs';
import { TEST_MACHINE_NAMES, TEST_MACHINES, usualUmlKernel } from '../vm/testMachines.mjs';
import { FEATURES } from './needs.mjs';

/** @typedef {import('../vm/testMachines.mjs').TestMachineName} TestMachineName */
/** @typedef {import('../vm/kernelNames.mjs').UmlKernelName} UmlKernelName */
/** @typedef {TestMachineName | 'machine'} Place */
/** @typedef {import('./needs.mjs').Feature} Feature */

/** Features of guests, which cannot be tried: a guest has modules and profiles of its own, which tests may unload. */
export const OF_GUESTS = /** @type {readonly Feature[]} */ ([
  'modules',
  'enforced AppArmor',
  'two processors',
]);

/**
 * @param {TestMachineName} machine
 * @param {UmlKernelName} kernel
 * @returns {readonly Feature[]} those of {@link OF_GUESTS} that it has
 */
export function guestFeatures(machine, kernel) {
  if (machine === 'qemu') return OF_GUESTS;
  return [isBuiltName(kernel) ? 'enforced AppArmor' : 'modules'];
}

// What the packages of User Mode Linux lack.
const NOT_PACKAGED = /** @type {readonly Feature[]} */ (['zones', 'nftables']);

/**
 * @param {TestMachineName} name
 * @param {UmlKernelName | undefined} kernel
 * @param {Feature} feature
 * @returns {boolean}
 */
function has(name, kernel, feature) {
  if (name === 'namespace') return serves(FEATURES[feature]);
  if (name === 'qemu' || kernel === undefined) return true;
  if (OF_GUESTS.includes(feature)) return guestFeatures(name, kernel).includes(feature);
  return isBuiltName(kernel) || !NOT_PACKAGED.includes(feature);
}

/** @type {Map<string, boolean>} Results do not change during the tests. */
const answers = new Map();

/**
 * @param {TestMachineName} name
 * @param {UmlKernelName | undefined} kernel
 * @param {Feature} feature
 */
function offers(name, kernel, feature) {
  const key = `${name} ${kernel} ${feature}`;
  const answer = answers.get(key) ?? has(name, kernel, feature);
  answers.set(key, answer);
  return answer;
}

/**
 * @param {import('./tiers.mjs').TestFile} file
 * @param {TestMachineName | undefined} named the test machine that the user selected for all kernel tests
 * @param {boolean} [builds] whether the kernel that has everything is built before the test runs
 * @returns {Promise<{ place: Place, kernel?: UmlKernelName }>} the kernel if it is not the usual one of the place
 */
export async function placeOf({ path, features }, named, builds = false) {
  if (features.length === 0) return { place: 'machine' };
  for (const place of named === undefined ? TEST_MACHINE_NAMES : [named]) {
    if ((await TEST_MACHINES[place].lacks()) !== undefined) continue;
    const kernels =
      place === 'uml' ? [...new Set([builds ? BUILT : usualUmlKernel(), USUAL_SUITE])] : [undefined];
    const index = kernels.findIndex((kernel) => features.every((feature) => offers(place, kernel, feature)));
    const kernel = kernels[index];
    if (index >= 0) return index === 0 || kernel === undefined ? { place } : { place, kernel };
  }
  throw new Failure(
    `${path} needs ${features.join(', ')}: no ${named ?? 'test machine'} on this machine has them all`,
  );
}

/**
 * @param {Place} place
 * @param {string} [kernel] a suite of Debian
 */
export const titleOf = (place, kernel) => {
  if (place === 'machine') return 'on this machine';
  return `in ${TEST_MACHINES[place].title}${kernel === undefined ? '' : `, kernel of ${kernel}`}`;
};
