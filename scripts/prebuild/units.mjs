// What the compiler of the prebuilt binaries reads: one source for each folder of native/, which includes the sources in it.

import { dirname } from 'node:path';

/**
 * The compiler spends most of its time on the headers of the C++ library and of Node-API: it reads them once for each unit, and not once
 * for each source.
 *
 * @param {string} list the text of native/sources.txt
 * @returns {Map<string, string>} file name → text; its includes are relative to native/
 */
export function unitsOf(list) {
  const sources = list.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  /** @type {Map<string, string>} */
  const units = new Map();
  for (const source of sources) {
    const unit = `${dirname(source).replaceAll('/', '_')}.cc`;
    const name = source.replace(/^native\//, '');
    units.set(unit, `${units.get(unit) ?? ''}#include "${name}"\n`);
  }
  return units;
}
