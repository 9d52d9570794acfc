// `npm run task -- layouts`: writes the layouts of records, which src/kernel/*/layouts.ts state, to native/*/layouts.h for C++.
//
//   node scripts/layouts.mjs           compiles the TypeScript, and writes the headers
//   node scripts/layouts.mjs --check   ends with 1 when a header is not what the compiled TypeScript states
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildTypeScript } from './lib/build.mjs';
import { CHECKOUT } from './lib/checkout.mjs';
import { Failure, reportFailures } from './lib/failure.mjs';

/** @typedef {{ name: string, kind: string, offset: number, width: number }} Field */
/** @typedef {{ type: string, areBits: boolean, numbers: Record<string, number> }} Codes */

const check = process.argv.includes('--check');

process.exitCode = await reportFailures('layouts', async () => {
  if (!check) buildTypeScript();
  const { FIELDS } = await load('shared/records/layout.js');
  const families = readdirSync(join(CHECKOUT, 'src/kernel')).filter((family) =>
    existsSync(join(CHECKOUT, 'src/kernel', family, 'layouts.ts')),
  );
  for (const family of families) {
    const header = join('native', family, 'layouts.h');
    const text = headerOf(family, await load(`${family}/layouts.js`), FIELDS);
    if (!check) writeFileSync(join(CHECKOUT, header), text);
    else if (!existsSync(join(CHECKOUT, header)) || readFileSync(join(CHECKOUT, header), 'utf8') !== text) {
      throw new Failure(
        `${header} is not what src/kernel/${family}/layouts.ts states: run \`npm run task -- layouts\``,
      );
    }
  }
  return 0;
});

/**
 * A module of dist/src/kernel.
 *
 * @param {string} path
 * @returns {Promise<any>}
 */
function load(path) {
  return import(pathToFileURL(join(CHECKOUT, 'dist/src/kernel', path)).href);
}

/**
 * The text of a family's header.
 *
 * @param {string} family
 * @param {Record<string, any>} exported its layouts and codes, by their names in TypeScript
 * @param {symbol} fields key of a layout's fields
 * @returns {string}
 */
function headerOf(family, exported, fields) {
  const codes = Object.values(exported).filter((value) => value.numbers);
  const layouts = Object.entries(exported).filter(([, value]) => value[fields]);
  return `// Written by \`npm run task -- layouts\` from src/kernel/${family}/layouts.ts, which explains each name.
#pragma once

#include "records/fields.h"

namespace knp::${family} {
${codes.map(enumOf).join('')}
namespace layout {
${layouts.map(([name, layout]) => structOf(name, layout.SIZE, layout[fields])).join('')}
}  // namespace layout

}  // namespace knp::${family}
`;
}

/**
 * Bits are an enumeration whose values can be added up.
 *
 * @param {Codes} codes
 */
function enumOf({ type, areBits, numbers }) {
  const values = Object.entries(numbers).map(([name, number]) => `  k${pascal(name)} = ${number},\n`);
  return `\nenum ${areBits ? '' : 'class '}${type} : uint8_t {\n${values.join('')}};\n`;
}

/**
 * @param {string} name
 * @param {number} size
 * @param {Field[]} fields
 */
function structOf(name, size, fields) {
  const lines = fields.map(
    ({ name, kind, offset, width }) =>
      `  static constexpr records::${pascal(kind)} k${pascal(name)}{${offset}${kind === 'text' ? `, ${width}` : ''}};\n`,
  );
  return `\nstruct ${pascal(name.toLowerCase())} {\n  static constexpr size_t kSize = ${size};\n${lines.join('')}};\n`;
}

/**
 * `LISTED_SERVER`, lower-cased → `ListedServer`; `addLink` → `AddLink`; `hash:ip,port` → `HashIpPort`.
 *
 * @param {string} name
 */
function pascal(name) {
  return name.replace(/(?:^|[^a-zA-Z0-9])([a-zA-Z])/g, (_match, letter) => letter.toUpperCase());
}
