// The hash of the image's inputs: an image with the same hash is not built again.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';

/** Hash of the Dockerfile and of all files that .dockerignore includes, with their names and permissions. */
export function sumOfInputs() {
  const ignore = readFileSync(join(CHECKOUT, '.dockerignore'), 'utf8');
  const allowed = [...ignore.matchAll(/^!(.+)$/gm)].map(([, path = '']) => path);
  const hash = createHash('sha256');
  for (const path of ['Dockerfile', ...allowed].flatMap(filesAt).sort()) {
    const full = join(CHECKOUT, path);
    hash.update(`${path} ${statSync(full).mode}\n`).update(readFileSync(full));
  }
  return hash.digest('hex');
}

/**
 * @param {string} path relative to the checkout
 * @returns {string[]} the file, or the files below the folder
 */
function filesAt(path) {
  const full = join(CHECKOUT, path);
  if (!statSync(full).isDirectory()) return [path];
  return readdirSync(full, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(CHECKOUT.length + 1));
}
