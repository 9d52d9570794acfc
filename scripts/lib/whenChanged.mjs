// Builds a file again only if its inputs have changed.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CHECKOUT } from './checkout.mjs';
import { Failure } from './failure.mjs';

/**
 * Runs `build` unless the output exists and was built from exactly these inputs. Parallel callers wait for each other.
 *
 * @param {object} job
 * @param {string} job.output absolute
 * @param {readonly string[]} job.inputs files, relative to the checkout
 * @param {string} job.with all else that the output depends on, such as the compiler
 * @param {boolean} job.force builds even if nothing has changed
 * @param {() => void} build
 */
export function onlyWhenChanged({ output, inputs, with: rest, force }, build) {
  const stamp = `${output}.stamp`;
  const hash = createHash('sha256').update(`${rest}\n`);
  for (const file of [...inputs].sort()) hash.update(`${file}\n`).update(readFileSync(join(CHECKOUT, file)));
  const digest = hash.digest('hex');
  const isCurrent = () =>
    !force && existsSync(output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest;
  if (isCurrent()) return;
  mkdirSync(dirname(output), { recursive: true });
  withLock(`${output}.lock`, () => {
    if (isCurrent()) return; // built by the process that had the lock
    rmSync(stamp, { force: true });
    build();
    if (!existsSync(output)) throw new Failure(`the build ended without an error but left no ${output}`);
    writeFileSync(stamp, digest);
  });
}

/**
 * Has the lock during `action`. Parallel test files all run the build.
 *
 * @param {string} path
 * @param {() => void} action
 */
function withLock(path, action) {
  while (!isTaken(path)) {
    if (!isAlive(path)) rmSync(path, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
  const release = () => rmSync(path, { force: true });
  process.on('exit', release);
  try {
    action();
  } finally {
    release();
    process.off('exit', release);
  }
}

/**
 * Takes the lock, if no process has it.
 *
 * @param {string} path
 */
function isTaken(path) {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    return false;
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
