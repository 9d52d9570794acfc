// The C++ unit tests: codecs on captured messages, records, transport. Built with AddressSanitizer and UBSan, both of which
// end the program at the first finding.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../support/paths.js';

const FOLDER = join(ROOT, 'test/native');

test('C++ unit tests', async (t) => {
  const built = spawnSync(process.execPath, ['scripts/build-native.mjs', '--tests'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.equal(built.status, 0, built.stderr);
  // A finding must end the program, whatever the environment says of sanitizers.
  const { ASAN_OPTIONS: _asan, UBSAN_OPTIONS: _ubsan, ...env } = process.env;
  const program = join(ROOT, 'build-cmake/tests/knp_tests');
  const run = spawnSync(program, [join(FOLDER, 'captures')], { encoding: 'utf8', env });

  const reported = new Map<string, string>();
  let notes = '';
  for (const line of run.stdout.trimEnd().split('\n')) {
    const [, verdict, name] = /^(ok|not ok) (\w+)$/.exec(line) ?? [];
    if (name === undefined) {
      notes += `${line}\n`;
    } else {
      reported.set(name, verdict === 'ok' ? '' : notes || 'failed');
      notes = '';
    }
  }
  // By name: a test that a crash kept from running must not go unnoticed.
  for (const name of testsInSources()) {
    await t.test(name, () => {
      assert.equal(reported.get(name) ?? `did not run\n${notes}${run.stderr}`, '');
    });
  }
  assert.equal(run.status, 0, run.stderr);
});

function testsInSources(): string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.cc'))
    .flatMap((file) => [...readFileSync(join(FOLDER, file), 'utf8').matchAll(/^TEST\((\w+)\)/gm)])
    .map(([, name]) => name ?? '');
}
