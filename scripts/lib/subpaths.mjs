// The modules that the package exports.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from './checkout.mjs';

/** @returns {Record<string, string>} the compiled file of each module, by its name in `exports`: `./ipvs` */
export function subpaths() {
  const { exports } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8'));
  return Object.fromEntries(
    Object.entries(exports).filter(([, target]) => /** @type {string} */ (target).endsWith('.js')),
  );
}
