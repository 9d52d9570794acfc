// Selects where a test runs: on this machine, or in the first test machine with the features that the test needs.

import { Failure } from '../lib/failure.mjs';
import { serves } from '../vm/namespace.mjs';
import { TEST_MACHINE_NAMES, TEST_MACHINES } from '../vm/testMachines.mjs';
import { FEATURES } from './needs.mjs';

/** @typedef {import('../vm/testMachines.mjs').TestMachineName} TestMachineName */
/** @typedef {TestMachineName | 'machine'} Place */
/** @typedef {import('./needs.mjs').Feature} Feature */

/** @type {Readonly<Record<TestMachineName, (feature: Feature) => boolean>>} */
const OFFERS = {
  namespace: (feature) => serves(FEATURES[feature]),
  uml: (feature) => !['zones', 'nftables', 'enforced AppArmor', 'two processors'].includes(feature),
  qemu: () => true,
};

/** @type {Map<string, boolean>} Results do not change during the tests. */
const answers = new Map();

/**
 * @param {TestMachineName} name
 * @param {Feature} feature
 */
function offers(name, feature) {
  const key = `${name} ${feature}`;
  const answer = answers.get(key) ?? OFFERS[name](feature);
  answers.set(key, answer);
  return answer;
}

/**
 * @param {import('./tiers.mjs').TestFile} file
 * @param {TestMachineName | undefined} named the test machine that the user selected for all kernel tests
 * @returns {Promise<Place>}
 */
export async function placeOf({ path, features }, named) {
  if (features.length === 0) return 'machine';
  for (const name of named === undefined ? TEST_MACHINE_NAMES : [named]) {
    if (features.every((feature) => offers(name, feature)) && (await TEST_MACHINES[name].serves()))
      return name;
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
