// Inputs of builds of the C++ parts.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filesBelow } from './checkout.mjs';
import { find } from './commands.mjs';
import { Failure } from './failure.mjs';

/** The sources of the addon, relative to the checkout. */
export function addonSources() {
  const sources = filesBelow('native', /\.(cc|h|gypi|txt|mjs)$/);
  return sources.filter((path) => !path.startsWith('native/fuzz/'));
}

/**
 * The installation prefix of the running Node.js, if it has Node.js's headers, as in a distribution's package or a container image.
 * As node-gyp's `nodedir`, it avoids a download.
 *
 * @returns {string | undefined}
 */
export function headerPrefix() {
  const prefix = dirname(dirname(process.execPath));
  return existsSync(join(prefix, 'include', 'node', 'node_api.h')) ? prefix : undefined;
}

/**
 * @param {readonly string[]} tools commands that a build needs
 * @param {string} remedy
 */
export function requireTools(tools, remedy) {
  const missing = tools.filter((tool) => find(tool) === undefined);
  if (missing.length > 0)
    throw new Failure(`building the native addon needs ${missing.join(', ')}: ${remedy}`);
}
