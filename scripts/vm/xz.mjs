// Decompresses xz: Debian's kernels and, since 6.12, their modules.

import { spawnSync } from 'node:child_process';
import { Failure } from '../lib/failure.mjs';

const LARGEST = 1024 ** 3;

/**
 * @param {Buffer} packed
 * @returns {Buffer}
 */
export function unpackXz(packed) {
  const done = spawnSync('xz', ['-dc'], { input: packed, maxBuffer: LARGEST });
  if (done.error || done.status !== 0) throw new Failure(`xz failed: ${done.error?.message ?? done.stderr}`);
  return done.stdout;
}
