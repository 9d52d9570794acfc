// Other versions of nft than this machine's, from later suites of Debian.

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { ensureUnpacked, librariesIn } from '../lib/suites.mjs';

/** Suites whose nft is newer than that of Debian 12: every mirror has them. */
export const NFT_SUITES = ['trixie', 'sid'];

/** The tests run the program `nft` in the folder of each suite. */
export const NFT_VERSIONS = join(CHECKOUT, '.cache/nft');

/** Downloads the nft of each suite unless it exists. */
export function ensureNftVersions() {
  for (const suite of NFT_SUITES)
    ensureUnpacked({ name: 'nftables', suite, size: '15 MB', root: join(NFT_VERSIONS, suite) }, writeProgram);
}

/**
 * Writes the program that runs nft with its own libraries, whatever this machine has.
 *
 * @param {string} root
 */
function writeProgram(root) {
  const { folder, loader } = librariesIn(root);
  const program = join(root, 'nft');
  writeFileSync(
    program,
    `#!/bin/sh
root=$(dirname "$0")
exec "$root/${folder}/${loader}" --library-path "$root/${folder}" "$root/usr/sbin/nft" "$@"
`,
  );
  chmodSync(program, 0o755);
}
