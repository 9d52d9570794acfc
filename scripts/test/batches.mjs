// Batches: test files of one tier that run in the same place, in one node --test.

import { join } from 'node:path';
import { placeOf, titleOf } from './places.mjs';

const LATER = 'npm run test:all runs it, and npm test when the quick kernel that it builds is in the cache.';

// Of a guest or a namespace. Guests boot in 1 to 2 s.
const MOST_FILES = 12;
// With --rest, also on this machine: these files take longer, and are lost together if the time of the run is over.
const MOST_OF_REST = 6;

// QEMU first, because its batches take longest. Whole tables last, because npm test runs a sample of them.
const RANKS = { qemu: 0, uml: 1, namespace: 1, machine: 2 };

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
 * @param {Pick<import('./options.mjs').TestOptions, 'all' | 'rest' | 'machine' | 'filters'>} options
 * @param {boolean} builds whether the kernel that has everything is built before they run
 * @param {string} results the folder for the results
 * @returns {Promise<Batch[]>} in the order of the tiers
 */
export async function planBatches(tiers, { all: whole, rest, machine, filters }, builds, results) {
  /** @type {Batch[]} */
  const batches = [];
  for (const [tier, all] of tiers) {
    /** @type {Map<string, Pick<Batch, 'place' | 'kernel' | 'files'>>} */
    const places = new Map();
    for (const { path, ...file } of all) {
      const found = await placeOf({ path, ...file }, machine, builds);
      if (found.place === 'qemu' && !whole && machine === undefined && filters.length === 0) {
        process.stderr.write(
          `test: ${path} is left out: here only QEMU has all of ${file.features.join(', ')}. ${LATER}\n`,
        );
        continue;
      }
      const name = [tier.name, found.place, found.kernel].filter(Boolean).join('-');
      const place = places.get(name) ?? { ...found, files: [] };
      place.files.push(path);
      places.set(name, place);
    }
    for (const [name, place] of places) batches.push(...partsOf(name, tier, place, results, rest));
  }
  return rest ? batches.sort((one, other) => RANKS[one.place] - RANKS[other.place]) : batches;
}

/**
 * Kernel tests run one after the other, so that the files of a place are dealt out to several guests or namespaces.
 *
 * @param {string} name
 * @param {Batch['tier']} tier
 * @param {Pick<Batch, 'place' | 'kernel' | 'files'>} place
 * @param {string} results
 * @param {boolean} rest whether it is what npm test leaves out
 * @returns {Batch[]}
 */
function partsOf(name, tier, { files, ...place }, results, rest) {
  const most = place.place === 'machine' ? files.length : MOST_FILES;
  const count = Math.ceil(files.length / (rest ? MOST_OF_REST : most));
  return Array.from({ length: count }, (_, part) => {
    const result = join(results, `${name}-${part + 1}`);
    const dealt = files.filter((_file, index) => index % count === part);
    return { tier, ...place, files: dealt, result: `${result}.json`, log: `${result}.log` };
  });
}

/** @param {Batch} batch */
export const describe = ({ tier, place, kernel, files }) =>
  `${tier.name} tests ${titleOf(place, kernel)} (${files.length} ${files.length === 1 ? 'file' : 'files'})`;
