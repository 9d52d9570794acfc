// Layouts of records: places follow from the order of the fields, and C++ has the same.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import {
  address,
  FIELDS,
  layout,
  nested,
  text,
  u8,
  u16,
  u32,
  u64,
  unused,
} from '../../../../src/kernel/shared/records/layout.js';
import { ROOT } from '../../../support/paths.js';

const SMALL = layout({ number: u64 });
const LARGE = layout({ address, name: text(5) });

test('fields are one directly after another', () => {
  const RECORD = layout({
    a: u8,
    b: u16,
    unused: unused(3),
    c: u32,
    d: text(4),
    e: nested(SMALL, LARGE),
    f: u8,
  });
  const { a, b, c, d, e, f, SIZE } = RECORD;
  assert.deepEqual([a, b, c, d.offset, d.width, e, f, SIZE], [0, 1, 6, 10, 4, 14, 35, 36]);
  assert.deepEqual([SMALL.SIZE, LARGE.SIZE, LARGE.name], [8, 21, { offset: 16, width: 5 }]);
});

test('bytes without a meaning are not a field', () => {
  const RECORD = layout({ unused: unused(1), number: u8 });
  assert.deepEqual(RECORD[FIELDS], [{ name: 'number', kind: 'u8', offset: 1, width: 1 }]);
});

test('the headers of C++ state the same layouts', () => {
  const run = spawnSync(process.execPath, ['scripts/layouts.mjs', '--check'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.equal(run.status, 0, run.stderr);
});
