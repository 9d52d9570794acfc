// Malformed replies: mutated from captured ones with a seed that is printed, read by everything that reads replies, under
// AddressSanitizer and UBSan. FUZZ_SEED=N repeats a run.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { ROOT } from '../support/paths.js';

const CAPTURES = join(ROOT, 'test/native/captures');
const FUZZER = join(ROOT, 'build-cmake/tests/knp_fuzz');
const COUNT = 10_000;

before(() => {
  const built = spawnSync(process.execPath, ['scripts/build-native.mjs', '--tests'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.equal(built.status, 0, built.stderr);
});

function fuzz(...args: readonly string[]) {
  // A finding must end the process, whatever the environment says of sanitizers.
  const { ASAN_OPTIONS: _asan, UBSAN_OPTIONS: _ubsan, ...env } = process.env;
  return spawnSync(FUZZER, args, { encoding: 'utf8', env });
}

test(`${COUNT} malformed replies: no finding`, (t) => {
  const seed = process.env['FUZZ_SEED'] ?? String(Math.floor(Math.random() * 2 ** 32));
  t.diagnostic(`FUZZ_SEED=${seed}`);
  const captures = readdirSync(CAPTURES)
    .filter((name) => name.endsWith('.reply'))
    .map((name) => join(CAPTURES, name));
  const done = fuzz('--seed', seed, '--count', String(COUNT), ...captures);
  assert.equal(done.status, 0, `FUZZ_SEED=${seed}\n${done.stdout}${done.stderr}`);
  assert.match(done.stdout, new RegExp(`^${COUNT} malformed replies: `, 'm'));
  for (const line of done.stdout.trimEnd().split('\n')) t.diagnostic(line);
  // Each reader takes some for good and refuses some: else the mutations would be too weak, or too strong to reach it.
  const readers = [...done.stdout.matchAll(/^(.+): (\d+) accepted, (\d+) refused$/gm)];
  assert.equal(readers.length, 17);
  for (const [, name, accepted, refused] of readers) {
    assert.ok(
      Number(accepted) > 0 && Number(refused) > 0,
      `${name}: ${accepted} accepted, ${refused} refused`,
    );
  }
});

test('the same seed gives the same replies', () => {
  const capture = join(CAPTURES, 'ipset-ipport4.reply');
  const run = (seed: string) => fuzz('--seed', seed, '--count', '200', capture).stdout.split('\n').slice(1);
  assert.deepEqual(run('7'), run('7'));
  assert.notDeepEqual(run('7'), run('8'));
});

test('a read behind the end of a reply would be found', () => {
  const done = fuzz('--self-test', 'read');
  assert.notEqual(done.status, 0);
  assert.match(done.stderr, /AddressSanitizer: heap-buffer-overflow/);
});

test('undefined arithmetic would be found', () => {
  const done = fuzz('--self-test', 'arithmetic');
  assert.notEqual(done.status, 0);
  assert.match(done.stderr, /runtime error: signed integer overflow/);
});
