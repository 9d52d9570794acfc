// The prebuilt binaries are compiled with one source for each folder of native/. Names of two files of a folder must differ, also those of
// their anonymous namespaces; `npm run build` compiles each file alone, and does not notice.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ROOT } from '../support/paths.js';

const { unitsOf }: { unitsOf(list: string): Map<string, string> } = await import(
  join(ROOT, 'scripts/prebuild/units.mjs')
);
const UNITS = unitsOf(readFileSync(join(ROOT, 'native/sources.txt'), 'utf8'));
/** Those with which node-gyp compiled the addon: where the headers of Node are depends on the machine. */
const MAKEFILE = readFileSync(join(ROOT, 'build/knp.target.mk'), 'utf8');
const OPTIONS = ['DEFS', 'INCS'].flatMap((kind) => {
  const [, lines = ''] = new RegExp(`^${kind}_Release := \\\\\n((?:\\t.*\n)+)`, 'm').exec(MAKEFILE) ?? [];
  return [...lines.matchAll(/-\S+/g)].map(([option]) => option.replace('$(srcdir)', '.').replaceAll("'", ''));
});

describe('the sources of a folder compile together', () => {
  for (const [unit, text] of UNITS)
    test(unit, () => {
      const options = [
        '-std=c++17',
        '-fno-exceptions',
        '-fsyntax-only',
        ...OPTIONS,
        '-Inative',
        '-x',
        'c++',
        '-',
      ];
      const { status, stderr } = spawnSync(process.env['CXX'] ?? 'g++', options, {
        cwd: ROOT,
        encoding: 'utf8',
        input: text,
      });
      assert.equal(status, 0, stderr);
    });
});
