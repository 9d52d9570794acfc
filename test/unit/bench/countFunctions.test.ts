// The count of the functions that one endpoint calls.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';
import { ROOT } from '../../support/paths.js';

interface Count {
  readonly mode: string;
  readonly functions: number;
  readonly files: number;
  readonly called: readonly string[];
}

it('counts the functions from the event of the source to the operations of the mode', () => {
  const program = join(ROOT, 'dist/bench/countFunctions.js');
  const text = execFileSync(process.execPath, [program, '--list', '-o', 'json'], { encoding: 'utf8' });
  const { counts } = JSON.parse(text) as { counts: readonly Count[] };
  assert.deepEqual(
    counts.map(({ mode }) => mode),
    ['ipvs', 'iptables', 'nftables'],
  );
  for (const { mode, functions, files, called } of counts) {
    assert.equal(called.length, functions);
    assert.equal(new Set(called.map((line) => line.split(':')[0])).size, files);
    assert.ok(
      called.some((line) => /^src\/proxy\/proxy\.ts:\d+ changed$/.test(line)),
      mode,
    );
    assert.ok(
      called.some((line) => line.startsWith(`src/proxy/modes/${mode}/program/`)),
      mode,
    );
    assert.ok(!called.some((line) => line.startsWith('src/kernel/testing/')), mode);
  }
});
