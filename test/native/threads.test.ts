// The C++ tests with several threads, under ThreadSanitizer: watches, clients that threads share, programs
// that another thread ends, and the lock of libipset.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { ROOT } from '../support/paths.js';

const PROGRAM = join(ROOT, 'build-cmake/threads/knp_threads');

before(() => {
  const built = spawnSync(process.execPath, ['scripts/build-native.mjs', '--threads'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.equal(built.status, 0, built.stderr);
});

function run(...args: readonly string[]) {
  // A finding must be an error, whatever the environment says of sanitizers.
  const { TSAN_OPTIONS: _tsan, ...env } = process.env;
  // Without randomized addresses, for which some versions of ThreadSanitizer have no room.
  return spawnSync('setarch', ['-R', PROGRAM, ...args], { encoding: 'utf8', env });
}

test('threads that share clients, watches and libipset: no data race', () => {
  const { status, stdout, stderr } = run(join(ROOT, 'test/native/captures'));
  assert.equal(stderr, '');
  assert.equal(status, 0, stdout);
  assert.match(stdout, /^ok ThreadsShareAClient$/m);
  assert.match(stdout, /^ok AProgramIsEndedByAnotherThread$/m);
  assert.match(stdout, /^ok AWatchIsTakenFromWhileItReadsAndEnds$/m);
});

test('a data race would be found', () => {
  const { status, stderr } = run('--self-test');
  assert.notEqual(status, 0);
  assert.match(stderr, /ThreadSanitizer: data race/);
});
