// The API reports are current, and each exported declaration has a doc comment.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';
import { ROOT } from '../support/paths.js';

/** The standard error of a failed script; empty if it succeeded. */
function errorsOf(script: string): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--check'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return status === 0 ? '' : stdout + stderr;
}

it('docs/api has the API of each export; a change of it needs `npm run api` and a line in CHANGELOG.md', () => {
  assert.equal(errorsOf('scripts/api.mjs'), '');
});

it('the pages that `npm run docs` makes have no broken link', () => {
  assert.equal(errorsOf('scripts/docs.mjs'), '');
});
