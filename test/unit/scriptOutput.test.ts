// The scripts of the checkout, with a reader that has read enough; and why tests failed, at the end of a run.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { ROOT } from '../support/paths.js';

for (const script of ['vm', 'test', 'bench', 'demo', 'site']) {
  it(`npm run ${script} -- --help ends quietly if its output is closed`, async () => {
    const child = spawn(process.execPath, [join(ROOT, `scripts/${script}.mjs`), '--help'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    const errors = child.stderr.setEncoding('utf8').toArray();
    const [status] = await once(child, 'close');
    assert.deepEqual([status, (await errors).join('')], [0, '']);
  });
}

/** Test files, and what the last lines of a run say of each. */
const FAILED: Readonly<Record<string, readonly [text: string, reason: RegExp]>> = {
  'late.mjs': [
    `let ended = false;
     const fail = () => { if (ended) throw new Error('too late'); setTimeout(fail, 5); };
     it('a', () => void setTimeout(fail));
     it('b', () => new Promise((resolve) => { ended = true; process.once('uncaughtException', resolve); }));`,
    /^late\.mjs \(exit status 1; Error: Test "a" at late\.mjs:4:\d+ generated .* "Error: too late" /,
  ],
  'exit.mjs': [
    `it('a', () => {});
     after(() => { console.error('kept by a timer'); process.exit(3); });`,
    /^exit\.mjs \(exit status 3; kept by a timer\)$/,
  ],
  'killed.mjs': [`it('a', () => process.kill(process.pid, 'SIGKILL'));`, /^killed\.mjs \(signal SIGKILL\)$/],
  'unequal.mjs': [`it('a', () => { throw new Error('no\\nanswer'); });`, /^unequal\.mjs: a \(no answer\)$/],
};

it('npm test names the reason for each failure, also of a process without a failed test', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'knp-failed-'));
  try {
    for (const [name, [text]] of Object.entries(FAILED))
      writeFileSync(join(folder, name), `import { after, it } from 'node:test';\n${text}\n`);
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const reporter = join(ROOT, 'scripts/test/counts.mjs');
    const args = ['--test', `--test-reporter=${reporter}`, ...Object.keys(FAILED)];
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const counts = JSON.parse((await child.stdout.setEncoding('utf8').toArray()).join(''));
    for (const [name, [, reason]] of Object.entries(FAILED))
      assert.match(counts.failed.find((line: string) => line.startsWith(name)) ?? '', reason);
    assert.deepEqual([counts.failed.length, counts.skipped], [Object.keys(FAILED).length, []]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('npm test with a time limit ends what runs, and lists it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'knp-late-'));
  const batch = {
    tier: { name: 'unit' },
    place: 'machine',
    files: ['test/unit/heap.test.ts'],
    result: join(folder, 'result.json'),
    log: join(folder, 'log'),
  };
  const script = `
    import { runLanes } from './scripts/test/lanes.mjs';
    import { summarize } from './scripts/test/summary.mjs';
    const batch = ${JSON.stringify(batch)};
    await runLanes([batch], { alone: true, minutes: 0 });
    process.exitCode = summarize([batch]);`;
  const args = ['--input-type=module', '--eval', script];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  assert.deepEqual(
    [status, stderr, ...stdout.trimEnd().split('\n').slice(-3)],
    [0, '', 'NOT RUN test/unit/heap.test.ts', '1 file did not end', '0 passed, 0 failed, 0 skipped'],
  );
});
