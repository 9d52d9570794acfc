// Finds what decides which file a path names.
import { readlinkSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

/** The name of a link or a file in its folder. */
export interface Place {
  /** Absolute, without links. */
  readonly folder: string;
  readonly name: string;
}

/** As many links as the kernel follows. */
const LINKS = 40;

/**
 * The places of the links in a path, and of the file at its end, in their order. If something is missing, its place
 * is the last. Throws Node.js's error if a link cannot be read.
 */
export function placesOf(path: string): readonly Place[] {
  const places: Place[] = [];
  // Not normalized: `..` after a link is the parent of the link's target.
  const ahead = partsOf(isAbsolute(path) ? path : `${process.cwd()}/${path}`);
  let folder = '/';
  for (let name = ahead.shift(); name !== undefined && places.length <= LINKS; name = ahead.shift()) {
    if (name === '..') {
      folder = dirname(folder);
      continue;
    }
    const place = { folder, name };
    const { link, missing } = lookUp(join(folder, name));
    if (link !== undefined) {
      places.push(place);
      ahead.unshift(...partsOf(link));
      if (isAbsolute(link)) folder = '/';
    } else if (missing || ahead.length === 0) {
      places.push(place);
      break;
    } else {
      folder = join(folder, name);
    }
  }
  return places;
}

/** The contents of a symbolic link; no link if it is something else. */
function lookUp(path: string): { readonly link?: string; readonly missing: boolean } {
  try {
    return { link: readlinkSync(path), missing: false };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EINVAL') return { missing: false };
    if (code === 'ENOENT' || code === 'ENOTDIR') return { missing: true };
    throw error;
  }
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}
