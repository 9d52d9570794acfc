// The tiers of tests: a folder of test/ each, with what it needs.

import { filesBelow } from '../lib/checkout.mjs';

/** @typedef {import('./places.mjs').Need} Need */

/**
 * @typedef {object} Tier
 * @property {string} name its folder's, below test/
 * @property {boolean} native whether it needs the addon and a compiler
 * @property {boolean} [promtool] whether it needs promtool
 * @property {boolean} [apart] whether it runs only when it is asked for: it takes long, or wants a quiet machine
 * @property {readonly Need[]} [needs] what its tests need of a kernel; without it they need none of their own
 * @property {Readonly<Record<string, readonly Need[]>>} [others] the same, for files whose names begin otherwise
 * @property {number} [limit] seconds that a file of it may take, where the usual ones are too few
 * @property {boolean} [image] whether it needs the container image
 */

/** @type {readonly Need[]} */
const IPVS = ['ipvs', 'dummy device'];

/** @type {readonly Tier[]} In the order in which they start: the longest are not left to the end. */
export const TIERS = [
  { name: 'oracle', native: true, needs: IPVS },
  { name: 'unit', native: false, promtool: true },
  { name: 'native', native: true },
  {
    name: 'e2e',
    native: true,
    needs: IPVS,
    // iptables by nftables, which most nodes have: the others are tried with the legacy kind where that is quicker.
    others: { 'once.': [...IPVS, 'nftables'] },
  },
  {
    name: 'kernel',
    native: true,
    needs: IPVS,
    others: {
      'conntrack.': ['conntrack', 'zones'],
      'conntrack-surroundings.': ['conntrack', 'modules'],
      'contract-netfilter.': ['conntrack', 'ipset'],
      'descriptors.': ['conntrack', 'ipset'],
      'ipset-': ['ipset'],
      'ipset.': ['ipset'],
      'ipvs-surroundings.': [...IPVS, 'modules'],
      'ipvs-threads.': [...IPVS, 'two processors'],
      'rtnetlinkWatch.': [],
    },
  },
  { name: 'vm', native: false },
  { name: 'oracle-api', native: true, needs: IPVS, apart: true },
  { name: 'image', native: false, needs: [...IPVS, 'nftables'], image: true, apart: true },
  { name: 'scale', native: false, apart: true },
  { name: 'scale-vm', native: true, needs: [...IPVS, 'two processors'], apart: true, limit: 3300 },
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
