// Builds the addon of an installed package from its sources, in build/Release/, where it is preferred to the prebuilt binaries.
// For platforms that have none. It needs npm, which downloads node-gyp and node-addon-api to a temporary folder, and g++, make
// and python3. Installing the package again deletes the result. build-from-source.lock.json, a lock file of npm, has the versions
// and the hashes of both and of their dependencies.
//
//   node node_modules/kube-netlink-proxy/scripts/build-from-source.mjs
//
// A part of the published package: it uses nothing else of this folder.

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const lock = readFileSync(join(root, 'scripts/build-from-source.lock.json'), 'utf8');
const work = mkdtempSync(join(tmpdir(), 'kube-netlink-proxy-build-'));
try {
  build();
} catch (error) {
  process.stderr.write(`build-from-source: ${/** @type {Error} */ (error).message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}

function build() {
  const { dependencies } = JSON.parse(lock).packages[''];
  writeFileSync(join(work, 'package.json'), JSON.stringify({ private: true, dependencies }));
  writeFileSync(join(work, 'package-lock.json'), lock);
  writeFileSync(join(work, 'binding.gyp'), '{ "includes": ["native/addon.gypi"] }');
  cpSync(join(root, 'native'), join(work, 'native'), { recursive: true });
  run('npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
  const jobs = ['--jobs', String(availableParallelism())];
  run(process.execPath, 'node_modules/node-gyp/bin/node-gyp.js', ...headers(), ...jobs, 'rebuild');
  const folder = join(root, 'build', 'Release');
  mkdirSync(folder, { recursive: true });
  // Renamed last: a process never loads a part of it.
  cpSync(join(work, 'build/Release/knp.node'), join(folder, 'knp.node.new'));
  renameSync(join(folder, 'knp.node.new'), join(folder, 'knp.node'));
  process.stdout.write(`built ${join(folder, 'knp.node')}\n`);
}

/** Node.js's headers, if they are installed with it; node-gyp downloads them otherwise. */
function headers() {
  const prefix = dirname(dirname(process.execPath));
  return existsSync(join(prefix, 'include/node/node_api.h')) ? [`--nodedir=${prefix}`] : [];
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 */
function run(command, ...args) {
  const done = spawnSync(command, args, { cwd: work, stdio: 'inherit' });
  if (done.error) throw new Error(`cannot start ${command}: ${done.error.message}`);
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')} failed; its messages are above`);
}
