// An endpoint change crosses a bounded number of representations, and the page that shows them is current.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { document, namesType, representations } from '../support/documents/endpointChange.js';
import { ROOT } from '../support/paths.js';

/** From the bytes of the watch to the bytes for the kernel. */
const MOST = 8;

it('an endpoint change crosses at most eight representations, each of a type in the file that is named', async () => {
  const steps = await representations();
  assert.ok(steps.length <= MOST, `${steps.length}`);
  assert.deepEqual(
    steps.filter((step) => !namesType(step)),
    [],
  );
});

it('docs/endpoint-change.md shows them as they are', async () => {
  assert.equal(await document(), readFileSync(join(ROOT, 'docs/endpoint-change.md'), 'utf8'));
});
