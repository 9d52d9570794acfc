// The log when nothing can be written.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { it } from 'node:test';

it('a disk that is full costs lines, and neither the process nor its memory', () => {
  const program = `
    import { openLog } from ${JSON.stringify(import.meta.resolve('../../../src/agent/log.js'))};
    const log = await openLog({ verbosity: 0, format: 'json' });
    const line = 'x'.repeat(1000);
    log.info(line);
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 50_000; i++) log.info(line);
    setTimeout(() => console.log((process.memoryUsage().rss - before) / 1e6), 50);
  `;
  const full = openSync('/dev/full', 'w');
  const stdio = ['ignore', 'pipe', full] as const;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    stdio: [...stdio],
    encoding: 'utf8',
    timeout: 30_000,
  });
  closeSync(full);
  assert.equal(status, 0);
  const grown = Number(stdout);
  assert.ok(stdout !== '' && grown < 40, `50 MB of lines took ${stdout} MB`);
});
