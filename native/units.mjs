// What node-gyp compiles: one source for each folder of a list, which includes the sources in it, and is written to build/units/. Prints their
// paths. The compiler spends most of its time on the headers of the C++ library and of Node-API: it reads them once for each unit, and not
// once for each source.
//
//   node native/units.mjs native/sources.txt    in the folder of binding.gyp

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const [list = ''] = process.argv.slice(2);
const sources = readFileSync(list, 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const folder = join('build/units', dirname(list));
/** @type {Map<string, string>} unit → its text */
const units = new Map();
for (const source of sources) {
  const unit = join(folder, `${dirname(source).replaceAll('/', '_')}.cc`);
  units.set(unit, `${units.get(unit) ?? ''}#include "${relative(folder, source)}"\n`);
}
mkdirSync(folder, { recursive: true });
for (const [unit, text] of units) if (textOf(unit) !== text) writeFileSync(unit, text);
process.stdout.write([...units.keys()].join('\n'));

/**
 * A unit that is not written again is not compiled again.
 *
 * @param {string} path
 */
function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // there is none yet
  }
}
