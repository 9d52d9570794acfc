// Whether a test file runs a sample in `npm test`: it imports test/support/extent.ts, itself or through what it imports of the tests.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';

const EXTENT = 'test/support/extent.ts';
const IMPORT = /\bfrom '(\.[^']+)\.js'/g;

/** @type {Map<string, readonly string[]>} file → the files below test/ that it imports */
const imports = new Map();

/**
 * @param {string} file relative to the checkout
 * @returns {boolean}
 */
export function isSampled(file) {
  const seen = new Set([file]);
  for (const each of seen) for (const imported of importsOf(each)) seen.add(imported);
  return seen.has(EXTENT);
}

/** @param {string} file */
function importsOf(file) {
  const found = imports.get(file) ?? readImports(file);
  imports.set(file, found);
  return found;
}

/** @param {string} file */
function readImports(file) {
  const text = readFileSync(join(CHECKOUT, file), 'utf8');
  return [...text.matchAll(IMPORT)]
    .map(([, path = '']) => normalize(join(dirname(file), `${path}.ts`)))
    .filter((path) => path.startsWith('test/') && existsSync(join(CHECKOUT, path)));
}
