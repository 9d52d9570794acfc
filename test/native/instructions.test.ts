// The number of instructions of the addon's work for one object, between the records of JavaScript and the messages of the kernel.
// Unlike a time, it is the same on a busy machine. callgrind counts it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ROOT } from '../support/paths.js';

const PROGRAM = join(ROOT, 'build-cmake/instructions/knp_instructions');

/** Instructions for each of the thousand objects, with g++ 12 on x64. A change beyond the margin must be meant: pin it anew. */
const EXPECTED: Readonly<Record<string, number>> = {
  DecodeRealServers: 3896,
  DecodeRealServersWithoutCounters: 1584,
  DecodeSetEntries: 438,
  EncodeMessages: 1528,
  EncodeRealServers: 1848,
  LoadSetEntries: 217,
};
/** Other versions of the compiler and of libc differ by less. */
const MARGIN = 0.05;
const OBJECTS = 1000;

let folder: string;
const counts = new Map<string, number>();

/** Runs a program to its end; its standard output. */
function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' });
  assert.equal(status, 0, error?.message ?? stderr);
  return stdout;
}

before(() => {
  run(process.execPath, ['scripts/build-native.mjs', '--instructions']);
  folder = mkdtempSync(join(tmpdir(), 'knp-instructions-'));
  const out = join(folder, 'out');
  const count = ['--tool=callgrind', `--callgrind-out-file=${out}`, '--toggle-collect=Measure*'];
  run('valgrind', [...count, PROGRAM, join(ROOT, 'test/native/captures')]);
  // ` 3,896,283 (31.53%)  ???:MeasureDecodeRealServers(…`: with the functions that it calls.
  const lines = run('callgrind_annotate', ['--inclusive=yes', '--threshold=100', out]);
  for (const [, total = '', name = ''] of lines.matchAll(/^ *([\d,]+) .*:Measure(\w+)\(/gm)) {
    counts.set(name, Math.round(Number(total.replaceAll(',', '')) / OBJECTS));
  }
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('every function is counted, and no other', () => {
  assert.deepEqual([...counts.keys()].sort(), Object.keys(EXPECTED).sort());
});

for (const [name, expected] of Object.entries(EXPECTED)) {
  test(`${name}: ${expected} instructions`, () => {
    const count = counts.get(name) ?? Number.NaN;
    const off = count / expected - 1;
    assert.ok(Math.abs(off) <= MARGIN, `${count} instructions, ${(100 * off).toFixed(1)} % from ${expected}`);
  });
}
