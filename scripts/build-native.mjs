// Builds the C++ parts, if their sources have changed since the last build.
//
//   node scripts/build-native.mjs            the addon, build/Release/knp.node (node-gyp, binding.gyp)
//   node scripts/build-native.mjs --tests    C++ unit tests with sanitizers, build-cmake/tests/ (CMakeLists.txt)
//   node scripts/build-native.mjs --threads  those with several threads, with ThreadSanitizer, build-cmake/threads/
//   … --force                                from nothing, even if nothing changed
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values } = parseArgs({
  options: {
    tests: { type: 'boolean', default: false },
    threads: { type: 'boolean', default: false },
    force: { type: 'boolean', default: false },
  },
});

if (values.tests) buildTests('tests', '-DKNP_SANITIZE=ON', ['knp_tests', 'knp_fuzz'], values.force);
else if (values.threads) buildTests('threads', '-DKNP_SANITIZE_THREADS=ON', ['knp_threads'], values.force);
else buildAddon(values.force);

/** @param {boolean} force */
function buildAddon(force) {
  const output = join(root, 'build', 'Release', 'knp.node');
  const inputs = [join(root, 'binding.gyp'), join(root, 'native')];
  onlyWhenChanged(output, inputs, force, () => {
    requireTools([process.env['CXX'] ?? 'g++', 'make', 'python3'], 'apt-get install g++ make python3');
    const gyp = join(root, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');
    if (!existsSync(gyp)) fail('node-gyp is not installed: run npm install');
    // Not `node-gyp rebuild`: it deletes the whole folder with the lock.
    if (force) rmSync(join(root, 'build', 'Release', 'obj.target'), { recursive: true, force: true });
    const jobs = ['--jobs', String(availableParallelism())];
    run(process.execPath, [gyp, ...nodeHeaders(), ...jobs, 'configure', 'build']);
  });
}

/**
 * @param {string} name of the folder below build-cmake/
 * @param {string} sanitizer option of CMake
 * @param {[string, ...string[]]} targets
 * @param {boolean} force
 */
function buildTests(name, sanitizer, targets, force) {
  const folder = join(root, 'build-cmake', name);
  const inputs = [join(root, 'CMakeLists.txt'), join(root, 'native'), join(root, 'test', 'native')];
  onlyWhenChanged(join(folder, targets[0]), inputs, force, () => {
    requireTools([process.env['CXX'] ?? 'g++', 'make', 'cmake'], 'apt-get install g++ make cmake');
    // Compiles in half the time of -O2 -g; sanitizer reports still have line numbers.
    const flags = ['-DCMAKE_BUILD_TYPE=RelWithDebInfo', '-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1'];
    run('cmake', ['-S', root, '-B', folder, '-G', 'Unix Makefiles', ...flags, sanitizer]);
    const choice = targets.flatMap((target) => ['--target', target]);
    const clean = force ? ['--clean-first'] : [];
    run('cmake', ['--build', folder, ...choice, ...clean, '--parallel', String(availableParallelism())]);
  });
}

/**
 * Node's headers, if they are installed with the running binary, as in a distribution's package or a container image.
 * node-gyp then downloads nothing, and does not use HOME.
 *
 * @returns {string[]}
 */
function nodeHeaders() {
  const prefix = dirname(dirname(process.execPath));
  return existsSync(join(prefix, 'include', 'node', 'node_api.h')) ? [`--nodedir=${prefix}`] : [];
}

/**
 * Runs `build` unless `output` exists and was built from exactly these inputs.
 *
 * @param {string} output
 * @param {string[]} inputs files and folders
 * @param {boolean} force
 * @param {() => void} build
 */
function onlyWhenChanged(output, inputs, force, build) {
  const stamp = `${output}.stamp`;
  const hash = createHash('sha256').update(`${process.arch} ${process.env['CXX'] ?? ''} ${root}\n`);
  for (const file of inputs.flatMap(filesOf).sort()) hash.update(`${file}\n`).update(readFileSync(file));
  const digest = hash.digest('hex');
  const isCurrent = () => existsSync(output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest;
  if (!force && isCurrent()) return;
  mkdirSync(dirname(output), { recursive: true });
  lock(`${output}.lock`);
  if (!force && isCurrent()) return; // built by the process that had the lock
  rmSync(stamp, { force: true });
  build();
  if (!existsSync(output)) fail(`the build ended well but left no ${output}`);
  writeFileSync(stamp, digest);
}

/**
 * Takes the lock of the build until this process ends. Parallel test files all run the build.
 *
 * @param {string} path
 */
function lock(path) {
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      process.on('exit', () => rmSync(path, { force: true }));
      return;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    }
    if (!isAlive(path)) rmSync(path, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
}

/**
 * Whether the process whose id is in the file still runs.
 *
 * @param {string} path
 */
function isAlive(path) {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    if (pid > 0) process.kill(pid, 0); // 0: another process has made the file and not written to it yet
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

/**
 * @param {string} path
 * @returns {string[]}
 */
function filesOf(path) {
  if (!existsSync(path)) return [];
  if (/\.(gyp|txt)$/.test(path)) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(cc|h|txt)$/.test(name))
    .map((name) => join(path, name));
}

/**
 * @param {string[]} tools
 * @param {string} remedy
 */
function requireTools(tools, remedy) {
  const missing = tools.filter((tool) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).error);
  if (missing.length > 0) fail(`building the native addon needs ${missing.join(', ')}: ${remedy}`);
}

/**
 * Runs a command in the package's root; prints its output only if it fails.
 *
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 });
  if (result.error) fail(`${command}: ${result.error.message}`);
  if (result.status === 0) return;
  process.stderr.write(result.stdout + result.stderr);
  fail(`${command} ${args.join(' ')} ended with ${result.status ?? result.signal}`);
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  process.stderr.write(`build-native: ${message}\n`);
  process.exit(1);
}
