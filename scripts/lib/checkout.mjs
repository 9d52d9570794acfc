// Paths in the checkout.

import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the checkout. */
export const CHECKOUT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * @param {string} folder relative to the checkout
 * @param {RegExp} pattern of the wanted names
 * @returns {string[]} files below the folder, relative to the checkout, in order; none if there is no such folder
 */
export function filesBelow(folder, pattern) {
  try {
    return readdirSync(join(CHECKOUT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => pattern.test(name))
      .map((name) => join(folder, name))
      .sort();
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return [];
    throw error;
  }
}
