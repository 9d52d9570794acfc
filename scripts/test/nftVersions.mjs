// Other versions of nft than this machine's, from later suites of Debian: unpacked with their own libraries, and not installed.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { capture, find, run } from '../lib/commands.mjs';
import { Failure } from '../lib/failure.mjs';

/** Suites whose nft is newer than that of Debian 12: every mirror has them. */
export const NFT_SUITES = ['trixie', 'sid'];

/** The tests run the program `nft` in the folder of each suite. */
export const NFT_VERSIONS = join(CHECKOUT, '.cache/nft');

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const MIRROR = 'http://deb.debian.org/debian';

/** Downloads the nft of each suite unless it exists. */
export function ensureNftVersions() {
  for (const suite of NFT_SUITES) if (!existsSync(join(NFT_VERSIONS, suite))) unpack(suite);
}

/** @param {string} suite */
function unpack(suite) {
  if (!find('apt-get')) throw new Failure(`this needs nft of Debian ${suite}, and there is no apt-get`);
  process.stderr.write(`downloading nft of Debian ${suite}, and its libraries (about 15 MB)\n`);
  mkdirSync(NFT_VERSIONS, { recursive: true });
  const work = mkdtempSync(join(NFT_VERSIONS, `.${suite}-`));
  try {
    const root = join(work, 'root');
    for (const archive of download(suite, join(work, 'apt'))) run('dpkg', ['-x', archive, root]);
    rmSync(join(root, 'usr/share'), { recursive: true, force: true });
    writeProgram(root);
    // Rename last: an existing folder is complete.
    renameSync(root, join(NFT_VERSIONS, suite));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Downloads nft with all that it depends on, as for a machine that has no package at all.
 *
 * @param {string} suite
 * @param {string} folder of apt's own state, which holds nothing else
 * @returns {string[]} paths of archives
 */
function download(suite, folder) {
  const archives = join(folder, 'archives');
  for (const each of ['lists/partial', 'archives/partial', 'parts'])
    mkdirSync(join(folder, each), { recursive: true });
  const key = existsSync(KEYRING) ? `[signed-by=${KEYRING}] ` : '';
  writeFileSync(join(folder, 'sources.list'), `deb ${key}${mirror()} ${suite} main\n`);
  writeFileSync(join(folder, 'status'), '');
  const settings = {
    'Dir::Etc::sourcelist': join(folder, 'sources.list'),
    'Dir::Etc::sourceparts': join(folder, 'parts'),
    'Dir::State': folder,
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::State::status': join(folder, 'status'),
    'Dir::Cache': folder,
    'Dir::Cache::archives': archives,
    'Acquire::Languages': 'none',
    // A mirror may be some weeks old; signatures are checked all the same.
    'Acquire::Check-Valid-Until': 'false',
    // apt's download user could not write here, and other users can lock nothing else.
    'APT::Sandbox::User': 'root',
    'Debug::NoLocking': 'true',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  run('apt-get', ['-qq', ...options, 'update']);
  const install = ['--yes', '--no-install-recommends', '--download-only', 'install', 'nftables'];
  run('apt-get', ['-qq', ...options, ...install]);
  return readdirSync(archives)
    .filter((name) => name.endsWith('.deb'))
    .map((name) => join(archives, name));
}

/** The mirror of this machine's own suite; if it has none, the common one. */
function mirror() {
  const format = '$(REPO_URI) $(COMPONENT) $(ORIGIN)';
  const { ok, stdout } = capture('apt-get', ['indextargets', '--format', format, 'Created-By: Packages']);
  const lines = stdout.toString().split('\n');
  const found = lines.find((line) => line.endsWith(' main Debian') && !line.includes('security'));
  return (ok && found?.split(' ')[0]) || MIRROR;
}

/**
 * Writes the program that runs nft with its own libraries, whatever this machine has.
 *
 * @param {string} root
 */
function writeProgram(root) {
  const libraries = readdirSync(join(root, 'usr/lib')).filter((name) => name.includes('-linux-gnu'));
  const [folder] = libraries.map((name) => join('usr/lib', name));
  const loader = folder && readdirSync(join(root, folder)).find((name) => /^ld-linux.*\.so\.\d+$/.test(name));
  if (!folder || !loader)
    throw new Failure(`the packages of nft in ${dirname(root)} have no loader of programs`);
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
