// The tiers of tests, each a folder of test/.

import { filesBelow } from '../lib/checkout.mjs';
import { Failure } from '../lib/failure.mjs';
import { needsOf } from './needs.mjs';
import { isSampled } from './sampled.mjs';

/**
 * @typedef {object} Tier
 * @property {string} name its folder's, below test/
 * @property {boolean} native whether it needs the addon and a compiler
 * @property {boolean} [kernel] whether none of its files may run outside a test machine
 * @property {boolean} [bundled] whether its processes are the command of the package, as users start it
 * @property {'all' | 'named'} [only] runs only with --all or by name, because it takes long; or only by name
 * @property {number} [limit] time limit of a file, in s, if it differs from the default
 */

/** @type {readonly Tier[]} In the order of their start: unit tests use the CPUs while end-to-end tests wait. */
export const TIERS = [
  { name: 'unit', native: true },
  { name: 'e2e', native: true, kernel: true, bundled: true },
  { name: 'native', native: true },
  { name: 'oracle', native: true, kernel: true },
  { name: 'kernel', native: true, kernel: true },
  // Most of it is one guest in QEMU, beside which the others run.
  { name: 'image', native: false, kernel: true, only: 'all' },
  // What repeats a property many times, or needs QEMU.
  { name: 'long', native: true, only: 'all', bundled: true },
  // Compiles the binaries of all platforms, and installs every Node.js that the package supports.
  { name: 'package', native: true, only: 'all' },
  // Every scenario by every method. The harness itself is tested by the tiers unit and kernel (bench-here), and CI runs a scenario.
  { name: 'bench', native: true, kernel: true, only: 'named' },
  { name: 'scale', native: false, only: 'named', limit: 3300 },
  { name: 'scale-vm', native: true, kernel: true, only: 'named', limit: 3300 },
];

/**
 * A test file of a tier, with its needs.
 *
 * @typedef {import('./needs.mjs').Needs & { readonly path: string }} TestFile
 */

/**
 * Whether `npm test` leaves it out, or runs a sample of it, on a machine on which the packages of User Mode Linux serve.
 *
 * @param {TestFile} file
 */
const isRest = ({ path, features, prepared }) =>
  prepared.includes('time') ||
  isSampled(path) ||
  features.some((feature) => feature === 'zones' || feature === 'enforced AppArmor') ||
  // Network namespaces have nftables, and the packages IPVS.
  (features.includes('ipvs') && features.includes('nftables'));

/**
 * @param {Tier} tier
 * @param {readonly string[]} filters parts of paths; empty for all files
 * @param {'sample' | 'whole' | 'rest'} extent what npm test runs, all, or what is in the second and not in the first
 * @returns {TestFile[]} with paths in the checkout
 */
export function filesOf(tier, filters, extent) {
  return filesBelow(`test/${tier.name}`, /\.test\.ts$/)
    .filter((path) => filters.length === 0 || filters.some((filter) => path.includes(filter)))
    .map((path) => {
      const needs = needsOf(path);
      // Without a test machine, it would change the network of this machine.
      if (tier.kernel && needs.features.length === 0) {
        throw new Failure(`${path} has no line "// Needs: …" with a kernel feature (see --help)`);
      }
      return { path, ...needs };
    })
    .filter((file) => {
      if (extent === 'rest') return tier.only !== undefined || isRest(file);
      return extent === 'whole' || filters.length > 0 || !file.prepared.includes('time');
    });
}
