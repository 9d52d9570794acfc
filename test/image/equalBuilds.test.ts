// Two builds of the image from the same sources, bases and packages are equal, bit by bit.
// Needs: namespace, builds
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { prepared } from '../support/paths.js';

interface Build {
  readonly configuration: {
    readonly created: string;
    readonly rootfs: { readonly diff_ids: readonly string[] };
  };
  /** A line for each file. */
  readonly files: readonly string[];
}

let builds: readonly [Build, Build];

before(() => {
  builds = JSON.parse(readFileSync(prepared('image/builds.json'), 'utf8')) as [Build, Build];
});

test('every file has the same path, mode, owner, time and content', () => {
  const [first, second] = builds;
  assert.ok(first.files.length > 3000, `only ${first.files.length} files`);
  assert.ok(first.files.some((line) => line.startsWith('usr/local/bin/node ')));
  const known = new Set(second.files);
  assert.deepEqual(
    first.files.filter((line) => !known.has(line)),
    [],
  );
  assert.equal(first.files.length, second.files.length);
});

test('the configurations, and so the digests of all layers, are equal', () => {
  const [first, second] = builds;
  assert.ok(first.configuration.rootfs.diff_ids.length > 0);
  assert.deepEqual(second.configuration, first.configuration);
});
