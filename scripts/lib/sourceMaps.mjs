// The comments of compiled modules that name their source maps. The package has no source maps, and bundlers warn of a comment
// whose map is missing.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CHECKOUT, filesBelow } from './checkout.mjs';

const COMMENT = /\/\/# sourceMappingURL=\S+\n?$/;

/** Removes the comments from the library's modules, before they are packed. */
export function unlinkSourceMaps() {
  change((_, text) => text.replace(COMMENT, ''));
}

/** Puts the comments back: tsc does not compile a module again whose source has not changed. */
export function linkSourceMaps() {
  change((path, text) =>
    COMMENT.test(text) || !existsSync(join(CHECKOUT, `${path}.map`))
      ? text
      : `${text}//# sourceMappingURL=${basename(path)}.map`,
  );
}

/** @param {(path: string, text: string) => string} edit */
function change(edit) {
  for (const path of filesBelow('dist/src', /\.js$/)) {
    const text = readFileSync(join(CHECKOUT, path), 'utf8');
    const changed = edit(path, text);
    if (changed !== text) writeFileSync(join(CHECKOUT, path), changed);
  }
}
