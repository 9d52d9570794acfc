// Builds the C++ parts, if their sources have changed since the last build.
//
//   node scripts/build-native.mjs            the addons of the library and of the benchmark, build/Release/ (node-gyp)
//   node scripts/build-native.mjs --tests    C++ unit tests with sanitizers, build-cmake/tests/ (CMakeLists.txt)
//   node scripts/build-native.mjs --threads  those with several threads, with ThreadSanitizer, build-cmake/threads/
//   node scripts/build-native.mjs --instructions  the program whose instructions are counted, as the addon is optimized
//   … --force                                from nothing, even if nothing changed
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CHECKOUT, filesBelow } from './lib/checkout.mjs';
import { Failure, reportFailures } from './lib/failure.mjs';
import { addonSources, headerPrefix, requireTools } from './lib/native.mjs';
import { onlyWhenChanged } from './lib/whenChanged.mjs';

const { values } = parseArgs({
  options: {
    tests: { type: 'boolean', default: false },
    threads: { type: 'boolean', default: false },
    instructions: { type: 'boolean', default: false },
    force: { type: 'boolean', default: false },
  },
});

// Compiles in a third of the time of -O2 -g; sanitizer reports still have line numbers.
const QUICKLY = '-O0 -g1';
// Sources in few files: their headers are read once for each file. Not for the count of instructions, because it changes
// what the compiler puts inline.
const TOGETHER = '-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16';
const CXX = process.env['CXX'] ?? 'g++';
const COMPILER = `${process.arch} ${CXX} ${CHECKOUT}`;

process.exitCode = await reportFailures('build-native', () => {
  if (values.tests)
    buildTests('tests', QUICKLY, `-DKNP_SANITIZE=ON ${TOGETHER}`, ['knp_tests', 'knp_fuzz'], values.force);
  else if (values.threads)
    buildTests('threads', QUICKLY, `-DKNP_SANITIZE_THREADS=ON ${TOGETHER}`, ['knp_threads'], values.force);
  else if (values.instructions)
    buildTests('instructions', '-O2', '-DKNP_SANITIZE=OFF', ['knp_instructions'], values.force);
  else buildAddon(values.force);
  return 0;
});

/** @param {boolean} force */
function buildAddon(force) {
  const output = join(CHECKOUT, 'build', 'Release', 'knp.node');
  const inputs = ['binding.gyp', ...addonSources(), ...filesBelow('bench/native', /\.(cc|h|txt)$/)];
  onlyWhenChanged({ output, inputs, with: COMPILER, force }, () => {
    requireTools([firstWord(CXX), 'make', 'python3'], 'apt-get install g++ make python3');
    const gyp = join(CHECKOUT, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');
    if (!existsSync(gyp)) throw new Failure('node-gyp is not installed: run npm install');
    // Not `node-gyp rebuild`: it deletes the whole folder with the lock.
    if (force) rmSync(join(CHECKOUT, 'build', 'Release', 'obj.target'), { recursive: true, force: true });
    const headers = headerPrefix();
    const options = [
      ...(headers === undefined ? [] : [`--nodedir=${headers}`]),
      ...['--jobs', String(availableParallelism())],
    ];
    run(process.execPath, [gyp, ...options, 'configure', 'build']);
  });
}

/**
 * @param {string} name of the folder below build-cmake/
 * @param {string} optimization options of the compiler
 * @param {string} options of CMake
 * @param {[string, ...string[]]} targets
 * @param {boolean} force
 */
function buildTests(name, optimization, options, targets, force) {
  const folder = join(CHECKOUT, 'build-cmake', name);
  const output = join(folder, targets[0]);
  const sources = /\.(cc|h|txt)$/;
  const folders = ['native', 'bench/native', 'test/native'];
  const inputs = ['CMakeLists.txt', ...folders.flatMap((each) => filesBelow(each, sources))];
  onlyWhenChanged({ output, inputs, with: COMPILER, force }, () => {
    requireTools([firstWord(CXX), 'make', 'cmake'], 'apt-get install g++ make cmake');
    const flags = ['-DCMAKE_BUILD_TYPE=RelWithDebInfo', `-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=${optimization}`];
    run('cmake', ['-S', CHECKOUT, '-B', folder, '-G', 'Unix Makefiles', ...flags, ...options.split(' ')]);
    const choice = targets.flatMap((target) => ['--target', target]);
    const clean = force ? ['--clean-first'] : [];
    run('cmake', ['--build', folder, ...choice, ...clean, '--parallel', String(availableParallelism())]);
  });
}

/**
 * CXX may have options after the command.
 *
 * @param {string} command
 */
function firstWord(command) {
  return command.split(' ')[0] ?? command;
}

/**
 * Runs a command in the checkout; prints its output only if it fails.
 *
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  const result = spawnSync(command, args, { cwd: CHECKOUT, encoding: 'utf8', maxBuffer: 64 << 20 });
  if (result.error) throw new Failure(`${command}: ${result.error.message}`);
  if (result.status === 0) return;
  process.stderr.write(result.stdout + result.stderr);
  throw new Failure(`${command} ${args.join(' ')} ended with ${result.status ?? result.signal}`);
}
