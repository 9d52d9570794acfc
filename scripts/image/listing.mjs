// All files of a folder as lines of text, to compare two of them.

import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @param {string} root
 * @returns {string[]} `PATH MODE UID:GID TIME CONTENT` in the order of the paths: the time in s, and the content as the SHA-256 of a
 *     file, the target of a link or the number of a device
 */
export function listingOf(root) {
  return pathsBelow(root).map((path) => {
    const found = lstatSync(join(root, path));
    const words = [
      found.mode.toString(8),
      `${found.uid}:${found.gid}`,
      String(Math.floor(found.mtimeMs / 1000)),
    ];
    return [path, ...words, contentOf(join(root, path), found)].join(' ');
  });
}

/**
 * All paths, in order. Node.js's own recursive listing follows links, such as /dev/fd.
 *
 * @param {string} root
 * @param {string} [folder] relative to the root
 * @returns {string[]}
 */
function pathsBelow(root, folder = '') {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? [path, ...pathsBelow(root, path)] : [path];
    });
}

/**
 * @param {string} path
 * @param {import('node:fs').Stats} found
 */
function contentOf(path, found) {
  if (found.isSymbolicLink()) return `-> ${readlinkSync(path)}`;
  if (found.isFile()) return createHash('sha256').update(readFileSync(path)).digest('hex');
  return found.isDirectory() ? 'folder' : `device ${found.rdev}`;
}
