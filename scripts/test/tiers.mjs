// The tiers of tests, each a folder of test/.

import { filesBelow } from '../lib/checkout.mjs';
import { Failure } from '../lib/failure.mjs';
import { needsOf } from './needs.mjs';

/**
 * @typedef {object} Tier
 * @property {string} name its folder's, below test/
 * @property {boolean} native whether it needs the addon and a compiler
 * @property {boolean} [kernel] whether none of its files may run outside a test machine
 * @property {boolean} [bundled] whether its processes are the command of the package, as users start it
 * @property {boolean} [apart] whether it runs only by name, because it takes long
 * @property {number} [limit] time limit of a file, in s, if it differs from the default
 */

/** @type {readonly Tier[]} In the order of their start, the longest first. */
export const TIERS = [
  { name: 'e2e', native: true, kernel: true, bundled: true },
  { name: 'oracle', native: true, kernel: true },
  { name: 'kernel', native: true, kernel: true },
  { name: 'unit', native: true },
  { name: 'native', native: true },
  { name: 'vm', native: false },
  // Most of it is one guest in QEMU, beside which the others run.
  { name: 'image', native: false, kernel: true, apart: true },
  // Every scenario by every method. The harness itself is tested by the tiers unit and kernel (bench-here).
  { name: 'bench', native: true, kernel: true, apart: true },
  // What repeats a property many times, or needs QEMU.
  { name: 'long', native: true, apart: true, bundled: true },
  // Compiles the binaries of all platforms, and installs every Node that the package supports.
  { name: 'package', native: true, apart: true },
  { name: 'oracle-api', native: true, kernel: true, apart: true },
  { name: 'scale', native: false, apart: true, limit: 3300 },
  { name: 'scale-vm', native: true, kernel: true, apart: true, limit: 3300 },
];

/**
 * A test file of a tier, with its needs.
 *
 * @typedef {import('./needs.mjs').Needs & { readonly path: string }} TestFile
 */

/**
 * @param {Tier} tier
 * @param {readonly string[]} filters parts of paths; empty for all files
 * @returns {TestFile[]} with paths in the checkout
 */
export function filesOf(tier, filters) {
  return filesBelow(`test/${tier.name}`, /\.test\.ts$/)
    .filter((path) => filters.length === 0 || filters.some((filter) => path.includes(filter)))
    .map((path) => {
      const needs = needsOf(path);
      // Without a test machine, it would change the network of this machine.
      if (tier.kernel && needs.features.length === 0) {
        throw new Failure(`${path} has no line "// Needs: …" with a kernel feature (see --help)`);
      }
      return { path, ...needs };
    });
}
