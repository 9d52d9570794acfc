// A worker thread may be terminated at any time, and Node makes no promise in it from then on.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PATIENCE } from '../../../laboratory/patience.js';

test('a process survives the end of worker threads in the middle of calls of the addon', () => {
  const file = fileURLToPath(new URL('terminated-process.js', import.meta.url));
  const { status, signal, stderr } = spawnSync(process.execPath, [file], {
    encoding: 'utf8',
    timeout: PATIENCE,
  });
  assert.deepEqual({ status, signal, stderr }, { status: 0, signal: null, stderr: '' });
});
