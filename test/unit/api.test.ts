// The API reports are current, and each exported declaration has a doc comment. apiPages.test.ts has the pages.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { errorsOfScript } from '../support/documents/scripts.js';

it('docs/api has the API of each export; a change of it needs `npm run task -- api` and a line in CHANGELOG.md', () => {
  assert.equal(errorsOfScript('scripts/api.mjs'), '');
});
