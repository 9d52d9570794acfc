// AppArmor's parser, unpacked from Debian's package. Installing it would load profiles into the kernel.

import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { run } from '../lib/commands.mjs';
import { downloadPackage } from '../lib/packages.mjs';

// The tests use this folder.
const APPARMOR = join(CHECKOUT, '.cache/apparmor');

/** Downloads the parser and the files that profiles include, unless they exist. */
export function ensureAppArmor() {
  if (existsSync(APPARMOR)) return;
  mkdirSync(dirname(APPARMOR), { recursive: true });
  const work = mkdtempSync(`${APPARMOR}-`);
  try {
    process.stderr.write("downloading Debian's package apparmor (about 1 MB)\n");
    run('dpkg', ['-x', downloadPackage('apparmor', work), join(work, 'root')]);
    // Rename last: an existing folder is complete.
    renameSync(join(work, 'root'), APPARMOR);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
