// Batches: the test files of one tier that run in the same place, in one node --test.

import { join } from 'node:path';
import { placeOf, titleOf } from './places.mjs';

/**
 * @typedef {object} Batch
 * @property {import('./tiers.mjs').Tier} tier
 * @property {import('./places.mjs').Place} place
 * @property {import('../vm/kernelNames.mjs').UmlKernelName} [kernel] another one than usual in this place
 * @property {string[]} files relative to the checkout
 * @property {string} result the file for its counts
 * @property {string} log the file for its output
 * @property {number} [seconds] how long it took, when it has ended
 */

/**
 * @param {ReadonlyMap<import('./tiers.mjs').Tier, readonly import('./tiers.mjs').TestFile[]>} tiers
 * @param {import('../vm/testMachines.mjs').TestMachineName | undefined} machine for all kernel tests
 * @param {string} results the folder for the results
 * @returns {Promise<Batch[]>} in the order of the tiers; a batch without files for a tier that has none
 */
export async function planBatches(tiers, machine, results) {
  /** @type {Batch[]} */
  const batches = [];
  for (const [tier, all] of tiers) {
    /** @type {Map<string, Batch>} */
    const places = new Map();
    for (const { path, ...file } of all) {
      const found = await placeOf({ path, ...file }, machine);
      const name = [tier.name, found.place, found.kernel].filter(Boolean).join('-');
      const result = join(results, name);
      const batch = places.get(name) ?? {
        ...{ tier, ...found, files: [] },
        ...{ result: `${result}.json`, log: `${result}.log` },
      };
      batch.files.push(path);
      places.set(name, batch);
    }
    batches.push(...places.values());
  }
  return batches;
}

/** @param {Batch} batch */
export const describe = ({ tier, place, kernel, files }) =>
  `${tier.name} tests ${titleOf(place, kernel)} (${files.length} ${files.length === 1 ? 'file' : 'files'})`;
