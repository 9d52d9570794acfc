// The tiers of tests: a folder of test/ each, with what it needs.

import { filesBelow } from '../lib/checkout.mjs';

/**
 * @typedef {object} Tier
 * @property {string} name its folder's, below test/
 * @property {boolean} native whether it needs the addon and a compiler
 * @property {boolean} [promtool] whether it needs promtool
 * @property {boolean} [apart] whether it runs only when it is asked for: it takes long, or wants a quiet machine
 * @property {boolean} vm whether it needs a kernel with IPVS and the dummy device
 * @property {number} [limit] seconds that a file of it may take, where the usual ones are too few
 * @property {boolean} [image] whether it needs the container image
 */

/** @type {readonly Tier[]} In the order in which they run. */
export const TIERS = [
  { name: 'unit', native: false, vm: false, promtool: true },
  { name: 'native', native: true, vm: false },
  { name: 'kernel', native: true, vm: true },
  { name: 'oracle', native: true, vm: true },
  { name: 'e2e', native: true, vm: true },
  { name: 'oracle-api', native: true, vm: true, apart: true },
  { name: 'image', native: false, vm: true, image: true, apart: true },
  { name: 'scale', native: false, vm: false, apart: true },
  { name: 'scale-vm', native: true, vm: true, apart: true, limit: 3300 },
];

/**
 * @param {Tier} tier
 * @param {readonly string[]} filters pieces of paths; none for all files
 * @returns {string[]} its compiled test files
 */
export function filesOf(tier, filters) {
  return filesBelow(`dist/test/${tier.name}`, /\.test\.js$/).filter(
    (path) => filters.length === 0 || filters.some((filter) => path.includes(filter)),
  );
}
