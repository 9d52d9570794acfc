// Other versions of nft than this machine's, from later suites of Debian.

import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { ensureUnpacked, writeProgram } from '../lib/suites.mjs';

/** Suites whose nft is newer than that of Debian 12: every mirror has them. */
export const NFT_SUITES = ['trixie', 'sid'];

/** The tests run the program `nft` in the folder of each suite. */
export const NFT_VERSIONS = join(CHECKOUT, '.cache/nft');

/** Downloads the nft of each suite unless it exists. */
export function ensureNftVersions() {
  for (const suite of NFT_SUITES)
    ensureUnpacked({ name: 'nftables', suite, size: '15 MB', root: join(NFT_VERSIONS, suite) }, (root) =>
      writeProgram(root, 'usr/sbin/nft'),
    );
}
