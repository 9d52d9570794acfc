// promtool, which checks metrics: from PATH, or unpacked from Debian's package of Prometheus. Installing the package would
// start a server.

import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { find, run } from '../lib/commands.mjs';
import { Failure } from '../lib/failure.mjs';
import { downloadPackage } from '../lib/packages.mjs';

// The tests use this path if promtool is not on PATH.
const PROMTOOL = join(CHECKOUT, '.cache/promtool');

/** Downloads promtool unless it exists. */
export function ensurePromtool() {
  if (find('promtool') || existsSync(PROMTOOL)) return;
  if (!find('apt-get')) throw new Failure('this needs promtool (of Prometheus), and there is no apt-get');
  mkdirSync(dirname(PROMTOOL), { recursive: true });
  const work = mkdtempSync(`${PROMTOOL}-`);
  try {
    process.stderr.write("downloading Debian's package prometheus, for promtool (about 19 MB)\n");
    run('dpkg', ['-x', downloadPackage('prometheus', work), work]);
    // Rename last: an existing file is complete.
    renameSync(join(work, 'usr/bin/promtool'), PROMTOOL);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
