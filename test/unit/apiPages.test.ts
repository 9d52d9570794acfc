// The pages of every export, which `npm run task -- docs` makes. api.test.ts has the links in the doc comments too, as the API extractor sees them.
// Needs: time
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { errorsOfScript } from '../support/documents/scripts.js';

it('the pages that `npm run task -- docs` makes have no broken link', () => {
  assert.equal(errorsOfScript('scripts/docs.mjs'), '');
});
