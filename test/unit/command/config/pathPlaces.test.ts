// The places that decide which file a path names.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { placesOf } from '../../../../src/command/config/pathPlaces.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'knp-places-')));
after(() => rmSync(folder, { recursive: true }));

it('.. behind a link is the parent of its target', () => {
  mkdirSync(join(folder, 'a/b'), { recursive: true });
  writeFileSync(join(folder, 'a/config'), '');
  symlinkSync('a/b', join(folder, 'link'));
  assert.deepEqual(placesOf(`${folder}/./link/../config`), [
    { folder, name: 'link' },
    { folder: join(folder, 'a'), name: 'config' },
  ]);
  // A folder at the end is no file whose contents are read.
  assert.deepEqual(placesOf(`${folder}/link/..`), [{ folder, name: 'link' }]);
});
